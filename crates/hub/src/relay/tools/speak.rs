//! What the hub says in a thread about a call: its answer, and each way that a failure takes.

use protocol::limits::{relay as depths, tools as limits};
use protocol::relay::{Envelope, ToolCall, channel, envelope_role, visible, visible_object};
use protocol::{Timestamp, Trust};
use serde_json::{Map, Value, json};
use store::{ReplyTo, ThreadRow, ToolCallRow, Tx};

use super::outcome::{Failure, Outcome, Words};
use crate::error::Result;
use crate::relay::append::{Appended, HUB_SENDER, HUB_SESSION, NewEnvelope, append};

/// The envelope that answers a call with what its tool said.
pub(super) fn answered(call: &ToolCallRow, outcome: &Outcome) -> (Envelope, Trust) {
    // Whatever a tool brings in, nothing hides in it.
    let brief = head(&visible(&outcome.brief), limits::TOOL_CONTENT_BYTES_MAX);
    let result = fitting(&visible_object(&outcome.result));
    let mut envelope = envelope(call, envelope_role::TOOL, brief, result);
    // Documents that were found stand where every reader of envelopes looks for them.
    if let Some(Value::Array(refs)) = outcome.result.get("retrieval_refs") {
        let refs = refs.iter().filter_map(Value::as_str).take(depths::RETRIEVAL_REFS_MAX);
        envelope.retrieval_refs = refs.map(str::to_owned).collect();
    }
    let trust = match outcome.words {
        Words::Ours => Trust::Hub,
        Words::Foreign => Trust::External,
    };
    (envelope, trust)
}

/// The envelope that answers a call whose tool failed for good.
pub(super) fn failed(call: &ToolCallRow, failure: &Failure) -> Envelope {
    let text = format!("{} failed: {}", call.name, failure.message);
    let text = head(&text, limits::TOOL_CONTENT_BYTES_MAX);
    let mut envelope = envelope(call, envelope_role::TOOL, text, failure.to_result());
    envelope.meta.insert("cause".to_owned(), "tool_failed".into());
    envelope.meta.insert("hop".to_owned(), call.hops.into());
    envelope
}

/// The envelope that shows a way that a failure takes.
pub(super) fn hop(call: &ToolCallRow, failure: &Failure, way: &str, next: &str) -> Envelope {
    let (hop, most) = (call.hops, depths::TOOL_HOPS_MAX);
    let text = format!("{} failed: {}; {next} (hop {hop} of {most})", call.tool, failure.message);
    let text = head(&text, limits::TOOL_CONTENT_BYTES_MAX);
    let mut envelope = envelope(call, envelope_role::SYSTEM, text, failure.to_result());
    envelope.meta.insert("cause".to_owned(), "tool_failed".into());
    envelope.meta.insert("hop".to_owned(), hop.into());
    envelope.meta.insert("way".to_owned(), way.into());
    envelope
}

fn envelope(
    call: &ToolCallRow,
    role: &str,
    content: String,
    result: Map<String, Value>,
) -> Envelope {
    let mut other = Map::new();
    let own_id = call.key.strip_prefix("id:");
    let id = own_id.map_or_else(|| call.id.to_string(), str::to_owned);
    other.insert("id".to_owned(), id.into());
    let mut meta = Map::new();
    meta.insert("task_id".to_owned(), json!(call.task));
    meta.insert("call_id".to_owned(), json!(call.id));
    if let Some(parent) = call.parent_id {
        meta.insert("parent_id".to_owned(), json!(parent));
    }
    // Long arguments stand in the message that asked, which this one answers.
    let args = if call.args.len() > limits::TOOL_ARGS_SHOWN_BYTES_MAX {
        Map::new()
    } else {
        serde_json::from_str(&call.args).unwrap_or_default()
    };
    Envelope {
        channel: channel::INTERNAL.to_owned(),
        role: role.to_owned(),
        content,
        tool_call: Some(ToolCall { name: call.name.clone(), args, result: Some(result), other }),
        meta,
        ..Envelope::default()
    }
}

/// A result that a message can hold: a long one is cut, and says so.
fn fitting(result: &Map<String, Value>) -> Map<String, Value> {
    // No message may hold this character.
    let text = Value::Object(result.clone()).to_string().replace("\\u0000", "\\ufffd");
    if text.len() <= depths::TOOL_RESULT_BYTES_MAX {
        return serde_json::from_str(&text).unwrap_or_default();
    }
    // What is escaped in a text within JSON takes more room than it has letters.
    let mut bytes_max = depths::TOOL_RESULT_BYTES_MAX;
    loop {
        let cut = json!({
            "cut": true, "bytes": text.len(), "text": head(&text, bytes_max),
        });
        if cut.to_string().len() <= depths::TOOL_RESULT_BYTES_MAX {
            return cut.as_object().cloned().unwrap_or_default();
        }
        bytes_max = bytes_max * 3 / 4;
    }
}

/// At most the first so many bytes, cut between characters, without what no message may hold.
fn head(text: &str, bytes_max: usize) -> String {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().replace('\0', "\u{fffd}")
}

/// Says it in the call's thread, in answer to the message that asked.
pub(super) fn say(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    call: &ToolCallRow,
    (envelope, trust): (&Envelope, Trust),
    now: Timestamp,
) -> Result<Appended> {
    let asked = tx.message(call.thread_row, call.seq)?;
    let new = NewEnvelope {
        envelope,
        sender: HUB_SENDER,
        session: HUB_SESSION,
        trust,
        reply_to: asked.map(|asked| ReplyTo { seq: asked.seq, created: asked.created }),
        idempotency: None,
    };
    append(tx, thread, &new, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_to_what_a_message_holds() {
        let long = "\"\n".repeat(40_000);
        let result = Map::from_iter([("text".to_owned(), long.into())]);
        let cut = fitting(&result);
        assert_eq!(cut["cut"], true);
        assert!(Value::Object(cut).to_string().len() <= depths::TOOL_RESULT_BYTES_MAX);
        let short = Map::from_iter([("a".to_owned(), 1.into())]);
        assert_eq!(fitting(&short), short);
    }
}
