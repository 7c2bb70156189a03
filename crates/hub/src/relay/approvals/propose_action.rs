//! Proposing an action.

use protocol::{OutboxId, ProposalId, Scope, TaskId, ThreadStatus, WorkId, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ThreadRow, Tx, WorkRow};

use super::draft::ActionDraft;
use super::key;
use super::submit::{Submitted, SubmittedAction, submit};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::clock::fresh_uid;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::{TOOLSET, cite};
use crate::threads::rules;

/// Propose to do something at a service: a comment, an answer. A human approves, changes, returns or
/// rejects it; nothing leaves before. Where the operator's policy allows it, it leaves at once. The same
/// proposal twice is one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposeAction {
    /// The thread it belongs to.
    thread_id: String,
    /// What you want to do.
    action: ActionDraft,
    /// Why, for the human who decides.
    #[schemars(length(max = limits::approvals::PROPOSAL_WHY_BYTES_MAX))]
    why: Option<String>,
    /// The work it comes from; a remark of the human goes back to its queue.
    work_id: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProposeActionOutput {
    /// The proposal, where a human is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal_id: Option<ProposalId>,
    /// What is on its way, where policy allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_id: Option<OutboxId>,
}

impl Operation for ProposeAction {
    const NAME: &'static str = "propose_action";
    const ROUTE: Route = Route::post("/v1/proposals");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ProposeActionOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<ProposeActionOutput> {
        let thread_id = rules::thread_id(&self.thread_id)?;
        let work_id = self.work_id.as_deref().map(read_work).transpose()?;
        let refs = self.action.retrieval_refs.as_deref().unwrap_or(&[]);
        cite::check_refs("action.retrieval_refs", refs)?;
        let means = key::means(&call.hub).await?;
        let (caller, now) = (call.shared_caller(), call.now());
        let why = self.why.unwrap_or_default();
        let draft = self.action;
        let output = call
            .write(move |tx| {
                let thread = rules::lock(tx, thread_id, &caller, "propose in")?;
                if thread.status == ThreadStatus::Closed {
                    return Err(Error::ThreadClosed);
                }
                let work = work_id.map(|id| work_of(tx, id, &thread)).transpose()?;
                let task = match &work {
                    Some(work) => work.task,
                    None => match tx.open_task(thread.row)? {
                        Some(task) => task,
                        None => TaskId(fresh_uid(&*means.hub.entropy(), now)),
                    },
                };
                let submitted = submit(
                    tx,
                    &means,
                    &SubmittedAction {
                        thread: &thread,
                        task,
                        work: work.map(|work| work.row),
                        agent: &caller.agent_id,
                        draft: &draft,
                        why: &why,
                        now,
                    },
                );
                let (object, output) = match submitted.map_err(within_action)? {
                    Submitted::Proposed(id) => (id.to_string(), answer(Some(id), None)),
                    Submitted::Queued(id) => (id.to_string(), answer(None, Some(id))),
                };
                Ok(Change::of(object, output))
            })
            .await?;
        call.hub.approvals.ring();
        call.hub.live.announce_outbox();
        Ok(output)
    }

    fn brief(output: &ProposeActionOutput) -> String {
        match (&output.proposal_id, &output.outbox_id) {
            (Some(id), _) => format!("{id} waits for a human; nothing leaves before"),
            (None, Some(id)) => format!("{id} is on its way: policy allows it"),
            (None, None) => String::new(),
        }
    }
}

fn answer(proposal_id: Option<ProposalId>, outbox_id: Option<OutboxId>) -> ProposeActionOutput {
    ProposeActionOutput { proposal_id, outbox_id }
}

fn read_work(text: &str) -> Result<WorkId> {
    text.parse().map_err(|_| Error::NotFound { what: "work" })
}

/// Work of the same thread.
fn work_of(tx: &mut Tx<'_>, id: WorkId, thread: &ThreadRow) -> Result<WorkRow> {
    let work = tx.work(id)?.filter(|work| work.thread_row == thread.row);
    work.ok_or(Error::NotFound { what: "work" })
}

/// A field of the draft stands below `action` here.
fn within_action(error: Error) -> Error {
    match &error {
        Error::Invalid { field, .. } if field != "why" => error.within("action"),
        _ => error,
    }
}
