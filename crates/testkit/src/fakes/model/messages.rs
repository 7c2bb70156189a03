//! The Messages API, as Claude Code speaks it.

use serde_json::{Value, json};

use super::Reply;
use super::conversation::{Conversation, Entry, Tool, text_of};
use super::responses::event;

/// Reads a request.
pub(super) fn read(request: &Value, session: String) -> Conversation {
    let messages = request.get("messages").and_then(Value::as_array);
    let tools = request.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    Conversation {
        session,
        entries: messages.map_or(&[][..], Vec::as_slice).iter().flat_map(entries).collect(),
        tools: names.map(|name| Tool { name: name.to_owned(), namespace: None }).collect(),
    }
}

fn entries(message: &Value) -> Vec<Entry> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    let whole = [json!({ "type": "text", "text": message.get("content") })];
    let blocks = match message.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        _ => &whole,
    };
    let entries: Vec<Entry> = blocks.iter().filter_map(|block| entry(role, block)).collect();
    // Words beside a call do not end a turn.
    let calls = entries.iter().any(|entry| matches!(entry, Entry::Called { .. }));
    entries.into_iter().filter(|entry| !(calls && *entry == Entry::Said)).collect()
}

fn entry(role: &str, block: &Value) -> Option<Entry> {
    let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match (role, word("type").as_str()) {
        ("user", "text") => Some(Entry::User(word("text"))),
        ("assistant", "text") => Some(Entry::Said),
        ("assistant", "tool_use") => Some(Entry::Called { id: word("id"), name: word("name") }),
        ("user", "tool_result") => {
            Some(Entry::Returned { id: word("tool_use_id"), text: text_of(block.get("content")) })
        }
        _ => None,
    }
}

/// Writes an answer as the events of its stream.
pub(super) fn write(number: u64, model: &str, reply: &Reply) -> String {
    let (block, delta, reason) = match reply {
        Reply::Say(text) => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": text }),
            "end_turn",
        ),
        Reply::Call { tool, with } => (
            json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": tool.name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": with.to_string() }),
            "tool_use",
        ),
    };
    [
        ("message_start", json!({ "message": frame(number, model) })),
        ("content_block_start", json!({ "index": 0, "content_block": block })),
        ("content_block_delta", json!({ "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "index": 0 })),
        (
            "message_delta",
            json!({
                "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": { "output_tokens": 1 },
            }),
        ),
        ("message_stop", json!({})),
    ]
    .into_iter()
    .map(|(name, data)| event(name, data))
    .collect()
}

/// Writes an answer for those who do not want a stream.
pub(super) fn whole(number: u64, model: &str, reply: &Reply) -> Value {
    let (block, reason) = match reply {
        Reply::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Reply::Call { tool, with } => (
            json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": tool.name, "input": with }),
            "tool_use",
        ),
    };
    let mut message = frame(number, model);
    if let Some(fields) = message.as_object_mut() {
        fields.insert("content".to_owned(), json!([block]));
        fields.insert("stop_reason".to_owned(), json!(reason));
    }
    message
}

fn frame(number: u64, model: &str) -> Value {
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}
