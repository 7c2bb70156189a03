//! What an agent says when it has finished a piece of work: checked, and written down in one transaction.

use std::sync::Arc;

use base64::Engine as _;
use protocol::limits::{self as all_limits, relay as limits};
use protocol::relay::{Envelope, MemoryUpdate, WorkState, channel, envelope_role};
use protocol::{
    Caller, MessageId, OutboxId, ProposalId, ThreadStatus, Timestamp, Trust, WorkId, validate,
};
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{ReplyTo, ThreadRow, Tx, WorkRow};

use super::life;
use super::submit::{self, Submission};
use crate::call::Change;
use crate::error::{Checked, Error, Result};
use crate::hub::Hub;
use crate::relay::append::{NewEnvelope, append};
use crate::relay::approvals::{Means, Submitted};
use crate::relay::cite;

/// Something that an agent says in the thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What is said.
    #[schemars(length(min = 1, max = all_limits::MESSAGE_BODY_BYTES_MAX))]
    pub(super) content: String,
    /// Documents it leans on; the content cites each as `[[ref:id]]`.
    #[serde(default)]
    #[schemars(length(max = limits::RETRIEVAL_REFS_MAX))]
    pub(super) retrieval_refs: Vec<String>,
    /// Something to be remembered.
    pub(super) memory_update: Option<MemoryUpdate>,
    /// Whatever else belongs to it.
    #[serde(default)]
    pub(super) meta: Map<String, Value>,
}

/// Something that an agent wants done at a service. Unless the operator's policy says otherwise a human
/// decides first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionWish {
    /// The link it goes through; the thread's own unless you say otherwise.
    #[schemars(length(max = all_limits::NAME_CHARS_MAX))]
    pub(super) link: Option<String>,
    /// The address of a page there, or `thread` (the default): where the thread came from.
    #[schemars(length(max = all_limits::TITLE_CHARS_MAX))]
    pub(super) to: Option<String>,
    /// The text: CommonMark, with `[[ref:id]]` where it cites.
    #[schemars(length(min = 1, max = limits::ACTION_TEXT_BYTES_MAX))]
    pub(super) text: String,
    /// Documents it leans on; the text cites each. What the task retrieved unless you say otherwise, and
    /// none where this is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RETRIEVAL_REFS_MAX))]
    pub(super) retrieval_refs: Option<Vec<String>>,
    /// Why, for whoever decides.
    #[schemars(length(max = all_limits::REASON_CHARS_MAX))]
    pub(super) why: Option<String>,
}

/// What was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteWorkOutput {
    /// The work.
    pub(super) work_id: WorkId,
    /// `done`, or `parked`.
    pub(super) state: WorkState,
    /// The replies, in their order.
    pub(super) replies: Vec<RepliedView>,
    /// The actions, in their order.
    pub(super) actions: Vec<SubmittedView>,
}

/// A reply as it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepliedView {
    /// The message it is.
    message_id: MessageId,
    /// Its number in the thread.
    seq: i64,
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubmittedView {
    /// It waits for a human: the proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal_id: Option<ProposalId>,
    /// It is on its way: the action in the outbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_id: Option<OutboxId>,
}

/// A checked completion.
pub(super) struct Completion {
    pub(super) hub: Arc<Hub>,
    pub(super) id: WorkId,
    pub(super) fence: i64,
    pub(super) replies: Vec<Reply>,
    pub(super) actions: Vec<ActionWish>,
    pub(super) parks: bool,
    pub(super) caller: Arc<Caller>,
    pub(super) means: Means,
    pub(super) now: Timestamp,
    /// What is said, in a few bytes, to know it again.
    pub(super) digest: String,
}

/// What a completion left behind.
pub(super) struct Completed {
    pub(super) output: CompleteWorkOutput,
    /// The thread in which something was said.
    pub(super) thread_row: i64,
    /// Whether there is work to take now.
    pub(super) has_freed: bool,
}

/// What is kept of a completion, so that saying it again gets the same answer.
#[derive(Serialize, Deserialize)]
struct Outcome {
    digest: String,
    answer: CompleteWorkOutput,
}

/// Checks what is said, before anything is written.
pub(super) fn check(replies: &[Reply], actions: &[ActionWish]) -> Result<()> {
    let too_many = |field: &str, count: usize, max: usize| {
        let reason = format_args!("must be at most {max}");
        if count > max { Err(Error::invalid(field, reason)) } else { Ok(()) }
    };
    too_many("replies", replies.len(), limits::WORK_REPLIES_MAX)?;
    too_many("actions", actions.len(), limits::WORK_ACTIONS_MAX)?;
    for (index, reply) in replies.iter().enumerate() {
        let field = format!("replies[{index}]");
        validate::message_body(&reply.content).field(&format!("{field}.content"))?;
        check_cites(&field, "content", &reply.content, &reply.retrieval_refs)?;
    }
    for (index, action) in actions.iter().enumerate() {
        let field = format!("actions[{index}]");
        validate::message_body(&action.text).field(&format!("{field}.text"))?;
        if action.text.len() > limits::ACTION_TEXT_BYTES_MAX {
            let reason = format_args!("must have at most {} bytes", limits::ACTION_TEXT_BYTES_MAX);
            return Err(Error::invalid(format!("{field}.text"), reason));
        }
        if let Some(why) = &action.why {
            validate::without_nul(why).field(&format!("{field}.why"))?;
        }
        check_cites(&field, "text", &action.text, action.retrieval_refs.as_deref().unwrap_or(&[]))?;
    }
    Ok(())
}

/// A text that was made from documents names each of them.
fn check_cites(field: &str, text_field: &str, text: &str, refs: &[String]) -> Result<()> {
    cite::check_refs(&format!("{field}.retrieval_refs"), refs)?;
    cite::check(&format!("{field}.{text_field}"), text, cite::Leans::Named(refs))
}

/// What is said, in a few bytes.
pub(super) fn digest_of(replies: &[Reply], actions: &[ActionWish], parks: bool) -> String {
    let said = serde_json::json!([replies, actions, parks]).to_string();
    let digest = digest(&SHA256, said.as_bytes());
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest)
}

impl Completion {
    /// Writes everything down: what was said, what is to be done outside, and that the work is done.
    pub(super) fn run(&self, tx: &mut Tx<'_>) -> Result<Change<Completed>> {
        let mut work = life::lock(tx, self.id, &self.caller)?;
        if let Some(answer) = self.earlier_answer(&work)? {
            let thread_row = work.thread_row;
            return Ok(Change::none(Completed { output: answer, thread_row, has_freed: false }));
        }
        life::check_lease(&work, self.fence, &self.caller)?;
        let thread = tx.lock_thread_by_row(&work.workspace, work.thread_row)?;
        let mut thread = thread.ok_or(Error::NotFound { what: "thread" })?;
        let replies = self.reply(tx, &work, &mut thread)?;
        let actions = self.submit(tx, &work, &thread)?;
        work.state = if self.parks { WorkState::Parked } else { WorkState::Done };
        work.ended = (!self.parks).then_some(self.now);
        work.lease = None;
        work.reason = None;
        let output = CompleteWorkOutput { work_id: work.id, state: work.state, replies, actions };
        let outcome = Outcome { digest: self.digest.clone(), answer: output.clone() };
        work.outcome = Some(
            serde_json::to_string(&outcome).map_err(|error| Error::Internal(Box::new(error)))?,
        );
        let has_freed = tx.end_work(&work)?.is_some();
        let completed = Completed { output, thread_row: thread.row, has_freed };
        let detail = serde_json::json!({ "fence": self.fence, "attempt": work.attempts });
        Ok(Change::of(work.id.to_string(), completed).with_detail(detail.to_string()))
    }

    /// What the same completion was answered before.
    fn earlier_answer(&self, work: &WorkRow) -> Result<Option<CompleteWorkOutput>> {
        let is_theirs = work.holder.as_deref() == Some(&*self.caller.agent_id);
        let is_over = matches!(work.state, WorkState::Done | WorkState::Parked);
        if !is_over || !is_theirs || work.fence != self.fence {
            return Ok(None);
        }
        let outcome = work.outcome.as_deref();
        let Some(outcome) = outcome.and_then(|text| serde_json::from_str::<Outcome>(text).ok())
        else {
            return Ok(None);
        };
        if outcome.digest == self.digest {
            return Ok(Some(outcome.answer));
        }
        Err(Error::Conflict(
            "this work was completed with other content; what you said first stands".to_owned(),
        ))
    }

    /// Appends what is said to the thread.
    fn reply(
        &self,
        tx: &mut Tx<'_>,
        work: &WorkRow,
        thread: &mut ThreadRow,
    ) -> Result<Vec<RepliedView>> {
        if self.replies.is_empty() {
            return Ok(Vec::new());
        }
        if thread.status == ThreadStatus::Closed {
            return Err(Error::ThreadClosed);
        }
        let asked = tx.message(work.thread_row, work.seq)?;
        let reply_to = asked.map(|asked| ReplyTo { seq: asked.seq, created: asked.created });
        let is_human = self.caller.role.is_human();
        let mut replied = Vec::with_capacity(self.replies.len());
        for reply in &self.replies {
            let role = if is_human { envelope_role::HUMAN } else { envelope_role::ASSISTANT };
            let mut meta = reply.meta.clone();
            meta.insert("task_id".to_owned(), work.task.to_string().into());
            let envelope = Envelope {
                channel: channel::INTERNAL.to_owned(),
                role: role.to_owned(),
                content: reply.content.clone(),
                memory_update: reply.memory_update.clone(),
                retrieval_refs: reply.retrieval_refs.clone(),
                meta,
                ..Envelope::default()
            };
            let new = NewEnvelope {
                envelope: &envelope,
                sender: &self.caller.agent_id,
                session: &self.caller.session_id,
                trust: if is_human { Trust::Operator } else { Trust::Agent },
                reply_to,
                idempotency: None,
            };
            let appended = append(tx, thread, &new, self.now)?;
            if let Some(update) = &reply.memory_update {
                submit::remember(tx, &self.hub, thread, &self.caller, update, self.now)?;
            }
            replied.push(RepliedView { message_id: appended.message_id, seq: appended.seq });
        }
        Ok(replied)
    }

    /// Hands on what is to be done outside.
    fn submit(
        &self,
        tx: &mut Tx<'_>,
        work: &WorkRow,
        thread: &ThreadRow,
    ) -> Result<Vec<SubmittedView>> {
        let mut submitted = Vec::with_capacity(self.actions.len());
        for (index, wish) in self.actions.iter().enumerate() {
            let submission = Submission {
                thread,
                task: work.task,
                work_row: work.row,
                agent: &self.caller.agent_id,
                wish,
                now: self.now,
            };
            let taken = submit::submit(tx, &self.means, &submission);
            let view = match taken.map_err(|error| error.within(&format!("actions[{index}]")))? {
                Submitted::Proposed(id) => SubmittedView { proposal_id: Some(id), outbox_id: None },
                Submitted::Queued(id) => SubmittedView { proposal_id: None, outbox_id: Some(id) },
            };
            submitted.push(view);
        }
        Ok(submitted)
    }
}

impl Serialize for Completed {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        self.output.serialize(serializer)
    }
}
