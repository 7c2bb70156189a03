//! A call as its asker sees it.

use protocol::relay::ToolCallState;
use protocol::{Caller, MessageId, TaskId, ThreadId, Timestamp, ToolCallId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::{ThreadRow, ToolCallRow, Tx};

use super::request;
use crate::error::{Error, Result};
use crate::threads::rules;

/// A call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolCallView {
    /// The call.
    call_id: ToolCallId,
    /// The thread it was asked for in.
    thread_id: ThreadId,
    /// The task it is part of.
    task_id: TaskId,
    /// The call it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<ToolCallId>,
    /// The tool that was asked for.
    name: String,
    /// What it is given.
    args: Map<String, Value>,
    /// How far it has come.
    pub(super) state: ToolCallState,
    /// How often it was begun.
    attempts: i64,
    /// How many ways were taken after failures.
    hops: i64,
    /// What it answered; null until then. A failure stands in `error`.
    result: Option<Map<String, Value>>,
    /// The number of the message that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_seq: Option<i64>,
    /// When it was asked for.
    created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
}

impl ToolCallView {
    pub(super) fn of(call: &ToolCallRow) -> Self {
        let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
        Self {
            call_id: call.id,
            thread_id: call.thread_id,
            task_id: call.task,
            parent_id: call.parent_id,
            name: call.name.clone(),
            args: read(&call.args),
            state: call.state,
            attempts: call.attempts,
            hops: call.hops,
            result: call.result.as_deref().map(read),
            answer_seq: call.answer_seq,
            created_at: call.created,
            ended_at: call.ended,
        }
    }

    pub(super) fn brief(&self) -> String {
        format!("{} ({}) is {}", self.call_id, self.name, self.state)
    }
}

const MISSING: Error = Error::NotFound { what: "tool call" };

/// The call that a caller names, and its thread, if the caller may enter it. A call is named by its id,
/// by the message that asked for it, or by what its asker calls it within a thread.
pub(super) fn find(
    tx: &mut Tx<'_>,
    caller: &Caller,
    (call_id, thread_id): (&str, Option<&str>),
) -> Result<(ThreadRow, ToolCallRow)> {
    if let Some(thread_id) = thread_id {
        let thread = rules::enter(tx, rules::thread_id(thread_id)?, caller, "read")?;
        let call = request::find(tx, &thread, call_id)?.ok_or(MISSING)?;
        return Ok((thread, call));
    }
    let call = match (call_id.parse::<ToolCallId>(), call_id.parse::<MessageId>()) {
        (Ok(id), _) => tx.tool_call(id)?,
        (_, Ok(message)) => {
            let (_, thread_row, seq) = message.place();
            tx.tool_call_at(thread_row, seq)?
        }
        _ => None,
    };
    let call = call.ok_or(MISSING)?;
    // A call of another workspace answers exactly like a missing one.
    let thread = rules::enter(tx, call.thread_id, caller, "read").map_err(|error| match error {
        Error::NotFound { .. } => MISSING,
        other => other,
    })?;
    Ok((thread, call))
}
