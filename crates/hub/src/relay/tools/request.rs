//! A message asks for a tool: the call becomes a row, in the message's own transaction.

use protocol::limits::{relay as depths, tools as limits};
use protocol::relay::{Envelope, ToolCall, ToolCallState};
use protocol::{Caller, MessageId, TaskId, Timestamp, ToolCallId, validate};
use serde_json::{Map, Value};
use store::{ThreadRow, ToolCallRow, Tx};

use super::caller;
use crate::error::{Checked, Error, Result};

/// A message that asks for a tool.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its thread.
    pub thread: &'a ThreadRow,
    /// Its number there.
    pub seq: i64,
    /// What it says.
    pub envelope: &'a Envelope,
    /// The task it is part of.
    pub task: TaskId,
    /// Who asks, verified.
    pub caller: &'a Caller,
    /// The id of the call, if it is a new one.
    pub id: ToolCallId,
    /// When.
    pub now: Timestamp,
}

/// Writes the call down that a message asks for, and answers its id. A call that the thread knows
/// already, by the id that its asker gave it, is not run again.
pub fn request(tx: &mut Tx<'_>, asked: &Asked<'_>) -> Result<ToolCallId> {
    let Some(wanted) = &asked.envelope.tool_call else {
        return Err(Error::invalid("tool_call", "is missing"));
    };
    let args = check(wanted)?;
    let key = key(wanted, asked.seq)?;
    if let Some(known) = tx.tool_call_by_key(asked.thread.row, &key)? {
        if known.name == wanted.name && known.args == args {
            return Ok(known.id);
        }
        return Err(Error::invalid_hint(
            "tool_call.id",
            "was used in this thread for another call",
            "give each call an id of its own, or leave it out",
        ));
    }
    let parent = parent(tx, asked, wanted)?;
    let depth = parent.as_ref().map_or(1, |parent| parent.depth + 1);
    if depth > depths::TOOL_DEPTH_MAX {
        return Err(Error::invalid_hint(
            "tool_call.parent_id",
            format_args!("nests calls deeper than {}", depths::TOOL_DEPTH_MAX),
            "answer with what you have, or ask from a call further up",
        ));
    }
    let row = ToolCallRow {
        row: 0,
        id: asked.id,
        workspace: asked.thread.workspace.clone(),
        thread_row: asked.thread.row,
        thread_id: asked.thread.id,
        seq: asked.seq,
        answer_seq: None,
        key,
        task: asked.task,
        parent_row: parent.as_ref().map(|parent| parent.row),
        parent_id: parent.as_ref().map(|parent| parent.id),
        depth,
        caller: caller::to_text(asked.caller),
        name: wanted.name.clone(),
        args,
        tool: wanted.name.clone(),
        way: None,
        next_way: 0,
        state: ToolCallState::Waiting,
        attempts: 0,
        // A call that follows from another one shares its hops.
        hops: parent.map_or(0, |parent| parent.hops),
        due: asked.now,
        holder: None,
        lease: None,
        result: None,
        created: asked.now,
        ended: None,
    };
    tx.insert_tool_call(&row)?;
    Ok(asked.id)
}

/// What every call keeps to; answers what the tool is given, in its one spelling.
fn check(wanted: &ToolCall) -> Result<String> {
    validate::line(&wanted.name, limits::TOOL_NAME_CHARS_MAX).field("tool_call.name")?;
    if wanted.result.is_some() {
        return Err(Error::invalid_hint(
            "tool_call.result",
            "must be null",
            "the hub runs the tool and answers with a tool message",
        ));
    }
    let args = Value::Object(wanted.args.clone()).to_string();
    if args.len() > limits::TOOL_ARGS_BYTES_MAX {
        let most = limits::TOOL_ARGS_BYTES_MAX;
        return Err(Error::invalid(
            "tool_call.args",
            format_args!("may have at most {most} bytes as JSON"),
        ));
    }
    // PostgreSQL keeps no such sign.
    if args.contains("\\u0000") {
        return Err(Error::invalid("tool_call.args", "may not hold the character U+0000"));
    }
    Ok(args)
}

/// What the asker calls the call; without a name it is called after its message.
fn key(wanted: &ToolCall, seq: i64) -> Result<String> {
    match wanted.other.get("id") {
        None | Some(Value::Null) => Ok(format!("seq:{seq}")),
        Some(Value::String(id)) => {
            validate::line(id, limits::TOOL_KEY_CHARS_MAX).field("tool_call.id")?;
            Ok(format!("id:{id}"))
        }
        Some(_) => Err(Error::invalid("tool_call.id", "must be a text")),
    }
}

/// The call that this one came from, if the message names one.
fn parent(tx: &mut Tx<'_>, asked: &Asked<'_>, wanted: &ToolCall) -> Result<Option<ToolCallRow>> {
    let named = named(&wanted.other, "parent_id")?.or(named(&asked.envelope.meta, "parent_id")?);
    let Some(text) = named else { return Ok(None) };
    let found = find(tx, asked.thread, text)?;
    let Some(parent) = found else {
        return Err(Error::invalid_hint(
            "tool_call.parent_id",
            "names no call of this thread",
            "give the id of the call that this one came from, or leave it out",
        ));
    };
    if parent.state == ToolCallState::Cancelled {
        return Err(Error::Conflict("the call that this one came from was cancelled".to_owned()));
    }
    Ok(Some(parent))
}

fn named<'a>(fields: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid(format!("tool_call.{field}"), "must be a text")),
    }
}

/// A call of a thread by its id, by what its asker calls it, or by the message that asked.
pub(super) fn find(tx: &mut Tx<'_>, thread: &ThreadRow, text: &str) -> Result<Option<ToolCallRow>> {
    if let Ok(id) = text.parse::<ToolCallId>()
        && let Some(call) = tx.tool_call(id)?
    {
        return Ok(Some(call).filter(|call| call.thread_row == thread.row));
    }
    if let Ok(message) = text.parse::<MessageId>() {
        let (_, thread_row, seq) = message.place();
        let is_here = thread_row == thread.row;
        return if is_here { Ok(tx.tool_call_at(thread_row, seq)?) } else { Ok(None) };
    }
    Ok(tx.tool_call_by_key(thread.row, &format!("id:{text}"))?)
}
