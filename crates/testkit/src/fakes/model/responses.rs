//! The Responses API, as Codex speaks it.

use serde_json::{Value, json};

use super::Reply;
use super::conversation::{Conversation, Entry, Tool, text_of};

/// Reads a request.
pub(super) fn read(request: &Value, session: String) -> Conversation {
    let items = request.get("input").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let tools = request.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    Conversation {
        session,
        entries: items.iter().flat_map(entries).collect(),
        tools: tools.iter().flat_map(offered).collect(),
    }
}

fn entries(item: &Value) -> Vec<Entry> {
    let word = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = word("call_id");
    match (word("type").as_str(), word("role").as_str()) {
        ("message", "user") => {
            let blocks = item.get("content").and_then(Value::as_array);
            let blocks = blocks.map_or(&[][..], Vec::as_slice).iter();
            let texts = blocks.filter_map(|block| block.get("text")?.as_str());
            texts.map(|text| Entry::User(text.to_owned())).collect()
        }
        ("message", "assistant") => vec![Entry::Said],
        ("function_call" | "custom_tool_call", _) => vec![Entry::Called { id, name: word("name") }],
        ("function_call_output" | "custom_tool_call_output", _) => {
            vec![Entry::Returned { id, text: text_of(item.get("output")) }]
        }
        _ => Vec::new(),
    }
}

fn offered(tool: &Value) -> Vec<Tool> {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let Some(group) = tool.get("tools").and_then(Value::as_array) else {
        return vec![Tool { name: name.to_owned(), namespace: None }];
    };
    let names = group.iter().filter_map(|tool| tool.get("name")?.as_str());
    names.map(|tool| Tool { name: tool.to_owned(), namespace: Some(name.to_owned()) }).collect()
}

/// Writes an answer as the events of its stream.
pub(super) fn write(number: u64, reply: &Reply) -> String {
    let item = match reply {
        Reply::Say(text) => json!({
            "type": "message", "role": "assistant", "id": format!("msg_{number}"),
            "content": [{ "type": "output_text", "text": text }],
        }),
        Reply::Call { tool, with } => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{number}"),
                "call_id": format!("call_{number}"),
                "name": tool.name, "arguments": with.to_string(),
            });
            if let (Some(namespace), Some(item)) = (&tool.namespace, item.as_object_mut()) {
                item.insert("namespace".to_owned(), json!(namespace));
            }
            item
        }
    };
    let id = format!("resp_{number}");
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null,
        "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2,
    });
    let done = json!({ "id": id, "usage": usage });
    [
        ("response.created", json!({ "response": { "id": id } })),
        ("response.output_item.added", json!({ "output_index": 0, "item": item })),
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.completed", json!({ "response": done })),
    ]
    .into_iter()
    .map(|(name, data)| event(name, data))
    .collect()
}

/// One event of a stream; both APIs repeat its name inside.
pub(super) fn event(name: &str, mut data: Value) -> String {
    if let Some(data) = data.as_object_mut() {
        data.insert("type".to_owned(), json!(name));
    }
    format!("event: {name}\ndata: {data}\n\n")
}
