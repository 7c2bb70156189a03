//! Opening a thread.

use std::sync::Arc;

use protocol::thread::Opening;
use protocol::{Caller, Scope, ThreadId, ThreadStatus, ThreadType, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{KeyedThread, NewThread, Tx};

use super::rules;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Open a thread for agents to talk in. You may read and post in it; name the others in `participants`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateThread {
    /// What it is about, in one line.
    #[schemars(length(min = 1, max = limits::TITLE_CHARS_MAX))]
    title: String,
    /// `conversation` unless you say otherwise.
    #[serde(default, rename = "type")]
    thread_type: ThreadType,
    /// The agents that take part, by agent id; at most 100.
    #[serde(default)]
    #[schemars(inner(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN)))]
    participants: Vec<String>,
    /// As in `post_message`.
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS_MAX))]
    idempotency_key: Option<String>,
    /// Optional: must match your token.
    workspace_id: Option<String>,
    /// Optional: must match your token.
    created_by: Option<String>,
}

/// The new thread.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreateThreadOutput {
    /// The thread.
    thread_id: ThreadId,
    /// Where it stands: `active`.
    status: ThreadStatus,
    /// When it was opened.
    created_at: Timestamp,
}

impl Operation for CreateThread {
    const NAME: &'static str = "create_thread";
    const ROUTE: Route = Route::post("/v1/threads");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    type Output = CreateThreadOutput;

    async fn run(self, call: &Call) -> Result<CreateThreadOutput> {
        rules::workspace(self.workspace_id.as_deref(), call.caller())?;
        rules::claim("created_by", self.created_by.as_deref(), &call.caller().agent_id)?;
        validate::line(&self.title, limits::TITLE_CHARS_MAX).field("title")?;
        let participants =
            rules::agent_names("participants", self.participants, validate::agent_id)?;
        if let Some(key) = &self.idempotency_key {
            validate::line(key, limits::IDEMPOTENCY_KEY_CHARS_MAX).field("idempotency_key")?;
        }
        let invited = participants.clone();
        let draft = Draft {
            id: call.new_thread_id(),
            caller: call.shared_caller(),
            at: call.now(),
            title: self.title,
            thread_type: self.thread_type,
            participants,
            key: self.idempotency_key,
        };
        let window_ms = call.hub.settings.idempotency_window_ms;
        let output = call.write(move |tx| draft.open(tx, window_ms)).await?;
        for agent in &invited {
            call.hub.live.announce_member(&call.caller().workspace_id, agent);
        }
        Ok(output)
    }

    fn brief(output: &CreateThreadOutput) -> String {
        format!("opened {} ({})", output.thread_id, output.status)
    }
}

/// A checked thread on its way into the store.
struct Draft {
    id: ThreadId,
    caller: Arc<Caller>,
    at: Timestamp,
    title: String,
    thread_type: ThreadType,
    participants: Vec<String>,
    key: Option<String>,
}

impl Draft {
    /// Opens the thread, unless its key did before.
    fn open(&self, tx: &mut Tx<'_>, window_ms: Option<i64>) -> Result<Change<CreateThreadOutput>> {
        if let Some(original) = self.original(tx, window_ms)? {
            return Ok(Change::none(answer(original.id, original.created)));
        }
        tx.insert_thread(&NewThread {
            id: self.id,
            workspace: &self.caller.workspace_id,
            title: &self.title,
            thread_type: self.thread_type,
            created_by: &self.caller.agent_id,
            participants: &self.participants,
            at: self.at,
        })?;
        Ok(Change::of(self.id.to_string(), answer(self.id, self.at)))
    }

    /// The thread that was opened with this key before, if the same was asked for.
    fn original(&self, tx: &mut Tx<'_>, window_ms: Option<i64>) -> Result<Option<KeyedThread>> {
        let Some(key) = &self.key else { return Ok(None) };
        let key = (self.caller.workspace_id.as_str(), self.caller.agent_id.as_str(), key.as_str());
        let opening = Opening {
            title: &self.title,
            thread_type: self.thread_type,
            participants: &self.participants,
        };
        let asked = opening.digest().to_vec();
        let ours = KeyedThread { id: self.id, asked, created: self.at };
        let free_before = window_ms.map(|window| self.at.plus_ms(-window));
        if tx.take_thread_key(key, &ours, free_before)? {
            return Ok(None);
        }
        match tx.thread_by_key(key)? {
            Some(original) if original.asked == ours.asked => Ok(Some(original)),
            _ => Err(Error::IdempotencyConflict { seq: None }),
        }
    }
}

fn answer(thread_id: ThreadId, created_at: Timestamp) -> CreateThreadOutput {
    CreateThreadOutput { thread_id, status: ThreadStatus::Active, created_at }
}
