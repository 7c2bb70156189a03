//! Posting an envelope.

use std::sync::Arc;

use protocol::id::Uid;
use protocol::message::Content;
use protocol::relay::{Envelope, envelope_role};
use protocol::{
    Caller, MemoryId, MessageId, MessageKind, Metadata, Scope, TaskId, ThreadId, ThreadStatus,
    ThreadType, Timestamp, ToolCallId, Trust,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{MessageRow, NewThread, ThreadRow, Tx};

use super::keys::{digest, task_key};
use super::words;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::memory;
use crate::operation::{Effect, Operation, Quota, Route};
use crate::relay::append::{NewEnvelope, append};
use crate::relay::hooks::{self, Asked, Remembered};
use crate::relay::{TOOLSET, check, envelope};
use crate::threads::{key_hash, rules};

/// Post an envelope to the relay: an answer, a question, or a `tool_call` for the hub to run. It stands in
/// the thread of `meta.thread_id`, or of `meta.task_id`, or in a new one. The same `id` posts once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostEnvelope {
    /// The envelope: `id`, `timestamp`, `channel`, `role` and `content`, and whatever else it needs.
    #[schemars(with = "Envelope")]
    envelope: Metadata,
}

/// The envelope as it was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostEnvelopeOutput {
    /// The thread it stands in.
    thread_id: ThreadId,
    /// The message it is.
    message_id: MessageId,
    /// Its number in the thread.
    seq: i64,
    /// The call of a tool that it asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<ToolCallId>,
    /// The envelope as others read it.
    envelope: Envelope,
    #[serde(skip)]
    thread_row: i64,
}

impl Operation for PostEnvelope {
    const NAME: &'static str = "post_envelope";
    const ROUTE: Route = Route::post("/v1/envelopes");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Posts;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = PostEnvelopeOutput;

    async fn run(self, call: &Call) -> Result<PostEnvelopeOutput> {
        let mut envelope = check::read(self.envelope.into_map())?;
        check::envelope(&envelope, call.caller())?;
        let remembers = envelope.memory_update.is_some();
        if let Some(update) = &mut envelope.memory_update {
            memory::clean(&call.hub, &call.caller().workspace_id, update).await?;
        }
        let trust = if call.caller().role.is_human() { Trust::Operator } else { Trust::Agent };
        envelope::without_claims(&mut envelope, trust, &call.caller().agent_id);
        let draft = Draft::of(envelope, call)?;
        let settings = (call.hub.settings.agent_turns_max, call.hub.settings.idempotency_window_ms);
        let output = call.write(move |tx| draft.post(tx, settings)).await?;
        call.hub.live.announce(output.thread_row);
        if output.call_id.is_some() {
            hooks::tool_asked(&call.hub);
        }
        if remembers {
            hooks::remembered(&call.hub);
        }
        Ok(output)
    }

    fn brief(output: &PostEnvelopeOutput) -> String {
        let PostEnvelopeOutput { thread_id, message_id, seq, .. } = output;
        let asked = output.call_id.map_or_else(String::new, |id| format!("; {id} is being run"));
        format!("posted {message_id} as #{seq} of {thread_id}{asked}")
    }
}

/// A checked envelope on its way into a thread.
struct Draft {
    hub: Arc<Hub>,
    envelope: Envelope,
    caller: Arc<Caller>,
    at: Timestamp,
    thread: Option<ThreadId>,
    /// The task as it was given, whoever made it.
    task: Option<String>,
    /// What is new needs an id.
    fresh: [Uid; 4],
}

/// Where an envelope belongs.
enum Place {
    /// In this thread.
    Known(ThreadRow),
    /// In a thread that is not there yet.
    New,
}

impl Draft {
    fn of(envelope: Envelope, call: &Call) -> Result<Self> {
        let thread = check::meta_text(&envelope, "thread_id")?;
        let thread = thread.map(thread_id).transpose()?;
        let task = check::meta_text(&envelope, "task_id")?.map(str::to_owned);
        if task.as_ref().is_some_and(|task| task.is_empty() || task.len() > 200) {
            return Err(Error::invalid("envelope.meta.task_id", "must have 1 to 200 bytes"));
        }
        Ok(Self {
            hub: Arc::clone(&call.hub),
            caller: call.shared_caller(),
            at: call.now(),
            fresh: std::array::from_fn(|_| call.new_uid()),
            envelope,
            thread,
            task,
        })
    }

    /// Appends the envelope, and asks for what it wants, in one transaction.
    fn post(
        &self,
        tx: &mut Tx<'_>,
        (turns_max, window_ms): (i64, Option<i64>),
    ) -> Result<Change<PostEnvelopeOutput>> {
        let [_, new_task, call_id, memory_id] = self.fresh;
        let mut thread = match self.place(tx)? {
            Place::Known(thread) => thread,
            Place::New => self.new_thread(tx)?,
        };
        if let Some(original) = self.original(tx, &thread, window_ms)? {
            return Ok(Change::none(answer(&thread, &original, None)?));
        }
        self.require_open(&thread)?;
        let open = tx.open_task(thread.row)?;
        let given = self.task.as_deref().and_then(|task| task.parse().ok());
        let task = given.or(open).unwrap_or(TaskId(new_task));
        let mut envelope = self.envelope.clone();
        let calls = envelope.role == envelope_role::ASSISTANT
            && envelope.tool_call.as_ref().is_some_and(|call| call.result.is_none());
        if self.task.is_none() && (open.is_some() || calls) {
            envelope.meta.insert("task_id".to_owned(), task.to_string().into());
        }
        let is_human = self.caller.role.is_human();
        let appended = append(
            tx,
            &mut thread,
            &NewEnvelope {
                envelope: &envelope,
                sender: &self.caller.agent_id,
                session: &self.caller.session_id,
                trust: if is_human { Trust::Operator } else { Trust::Agent },
                reply_to: None,
                idempotency: Some((&self.envelope.id, self.key())),
            },
            self.at,
        )?;
        self.stitch(tx, &thread)?;
        let (caller, now, seq) = (&*self.caller, self.at, appended.seq);
        if let Some(update) = &envelope.memory_update {
            let id = MemoryId(memory_id);
            let remembered = Remembered { thread: &thread, update, caller, id, now };
            hooks::remember(tx, &self.hub, &remembered)?;
        }
        let mut asked = None;
        if calls {
            let id = ToolCallId(call_id);
            let (thread, envelope) = (&thread, &envelope);
            asked =
                hooks::request_tool(tx, &Asked { thread, seq, envelope, task, caller, id, now })?;
        }
        rules::count_turn(tx, &mut thread, (caller, now), turns_max)?;
        tx.update_thread(&thread)?;
        let row = tx.message(thread.row, seq)?.ok_or(Error::NotFound { what: "message" })?;
        let output = answer(&thread, &row, asked)?;
        Ok(Change::of(appended.message_id.to_string(), output))
    }

    /// The thread that the envelope names, or that its task or its id is known in.
    fn place(&self, tx: &mut Tx<'_>) -> Result<Place> {
        if let Some(id) = self.thread {
            return Ok(Place::Known(rules::lock(tx, id, &self.caller, "post to")?));
        }
        let workspace = &self.caller.workspace_id;
        let mut row = match &self.task {
            Some(task) => tx.stitched_thread(workspace, &task_key(task))?,
            None => None,
        };
        if let (None, Some(Ok(task))) = (row, self.task.as_deref().map(str::parse)) {
            row = tx.thread_of_task(workspace, task)?;
        }
        if row.is_none() {
            row = tx.stitched_thread(workspace, &self.own_key())?;
        }
        let Some(row) = row else { return Ok(Place::New) };
        let known = tx.thread_by_row(row, &self.caller.agent_id)?;
        let id = known.map(|known| known.thread.id).ok_or(Error::NotFound { what: "thread" })?;
        Ok(Place::Known(rules::lock(tx, id, &self.caller, "post to")?))
    }

    fn new_thread(&self, tx: &mut Tx<'_>) -> Result<ThreadRow> {
        let [id, ..] = self.fresh;
        let title = words::name(self.envelope.content.lines().next().unwrap_or_default());
        let title = if title.trim().is_empty() { "an envelope".to_owned() } else { title };
        let row = tx.insert_thread(&NewThread {
            id: ThreadId(id),
            workspace: &self.caller.workspace_id,
            title: &title,
            thread_type: ThreadType::Conversation,
            created_by: &self.caller.agent_id,
            participants: &[],
            at: self.at,
        })?;
        tx.stitch_thread(&self.caller.workspace_id, &self.own_key(), row)?;
        let workspace = &self.caller.workspace_id;
        tx.lock_thread_by_row(workspace, row)?.ok_or(Error::NotFound { what: "thread" })
    }

    /// What has the same task from now on stands in the same thread.
    fn stitch(&self, tx: &mut Tx<'_>, thread: &ThreadRow) -> Result<()> {
        let Some(task) = &self.task else { return Ok(()) };
        Ok(tx.stitch_thread(&self.caller.workspace_id, &task_key(task), thread.row)?)
    }

    fn require_open(&self, thread: &ThreadRow) -> Result<()> {
        if thread.status == ThreadStatus::Closed {
            return Err(Error::ThreadClosed);
        }
        if thread.paused.is_some() && !self.caller.role.is_human() {
            return Err(Error::ThreadPaused { turns: thread.agent_turns });
        }
        Ok(())
    }

    /// The message that was posted with this id before, if it says the same.
    fn original(
        &self,
        tx: &mut Tx<'_>,
        thread: &ThreadRow,
        window_ms: Option<i64>,
    ) -> Result<Option<MessageRow>> {
        let (agent, id) = (&self.caller.agent_id, &self.envelope.id);
        let Some(found) = tx.message_by_key(thread.row, agent, id, self.key())? else {
            return Ok(None);
        };
        if window_ms.is_some_and(|window| self.at.ms_since(found.created) > window) {
            return Ok(None);
        }
        let mut before = envelope::from_message(&found, &thread.id);
        if self.task.is_none() {
            // The hub put it there.
            before.meta.remove("task_id");
        }
        let said = |envelope: &Envelope| {
            let metadata = envelope::to_metadata(envelope);
            let (kind, body) = (MessageKind::Chat, envelope.content.as_str());
            Content { kind, body, metadata: Some(&metadata), in_reply_to: None }.digest()
        };
        let mut now = self.envelope.clone();
        now.meta.entry("mcp_version").or_insert_with(|| envelope::MCP_VERSION.into());
        if said(&before) == said(&now) {
            return Ok(Some(found));
        }
        Err(Error::IdempotencyConflict { seq: Some(found.seq) })
    }

    fn key(&self) -> i64 {
        key_hash(&self.caller.agent_id, &self.envelope.id)
    }

    /// By which a thread is found again that was made for this envelope.
    fn own_key(&self) -> [u8; 32] {
        digest(&["envelope", &self.caller.agent_id, &self.envelope.id])
    }
}

/// Reads the id of a thread, in either of its spellings. What is no id names no thread.
fn thread_id(text: &str) -> Result<ThreadId> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let hex: String = text.chars().filter(|c| *c != '-').collect();
    let id = u128::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == 32);
    id.and_then(|id| ThreadId::from_bytes(&id.to_be_bytes()))
        .ok_or(Error::NotFound { what: "thread" })
}

fn answer(
    thread: &ThreadRow,
    row: &MessageRow,
    call_id: Option<ToolCallId>,
) -> Result<PostEnvelopeOutput> {
    Ok(PostEnvelopeOutput {
        thread_id: thread.id,
        message_id: row.id()?,
        seq: row.seq,
        call_id,
        envelope: envelope::from_message(row, &thread.id),
        thread_row: thread.row,
    })
}
