//! Chat completions and embeddings, as most servers of models speak them.

use serde_json::{Value, json};

use super::Reply;
use super::conversation::{Conversation, Entry, Tool, text_of};

/// Numbers of a vector.
const LENGTH: usize = 64;

/// Reads a request.
pub(super) fn read(request: &Value) -> Conversation {
    let list =
        |name: &str| request.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let tools = list("tools");
    let names = tools.iter().filter_map(|tool| tool.pointer("/function/name")?.as_str());
    Conversation {
        session: request.get("user").and_then(Value::as_str).unwrap_or_default().to_owned(),
        entries: list("messages").iter().flat_map(entries).collect(),
        tools: names.map(|name| Tool { name: name.to_owned(), namespace: None }).collect(),
    }
}

fn entries(message: &Value) -> Vec<Entry> {
    let word =
        |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match word("role").as_str() {
        "user" => vec![Entry::User(text_of(message.get("content")))],
        "tool" => vec![Entry::Returned {
            id: word("tool_call_id"),
            text: text_of(message.get("content")),
        }],
        "assistant" => {
            let calls = message.get("tool_calls").and_then(Value::as_array);
            let calls = calls.map_or(&[][..], Vec::as_slice);
            let text = |call: &Value, path: &str| {
                call.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let called: Vec<Entry> = calls
                .iter()
                .map(|call| Entry::Called {
                    id: text(call, "/id"),
                    name: text(call, "/function/name"),
                })
                .collect();
            // Words beside a call do not end a turn.
            if called.is_empty() { vec![Entry::Said] } else { called }
        }
        _ => Vec::new(),
    }
}

/// Writes an answer.
pub(super) fn whole(number: u64, request: &Value, reply: &Reply) -> Value {
    let (message, reason) = match reply {
        Reply::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Reply::Call { tool, with } => {
            let function = json!({ "name": tool.name, "arguments": with.to_string() });
            let call =
                json!({ "id": format!("call_{number}"), "type": "function", "function": function });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
            (message, "tool_calls")
        }
    };
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion",
        "model": request.get("model"),
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    })
}

/// Vectors of what words the texts hold: texts that share words lie close together.
pub(super) fn embeddings(request: &Value) -> Value {
    let texts = match request.get("input") {
        Some(Value::Array(texts)) => texts.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = vector(text.as_str().unwrap_or_default());
            json!({ "object": "embedding", "index": index, "embedding": vector })
        })
        // The order of the answer is nobody's promise.
        .rev()
        .collect();
    json!({ "object": "list", "model": request.get("model"), "data": data })
}

fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; LENGTH];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let hash = word.bytes().fold(14_695_981_039_346_656_037_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
        });
        let place = usize::try_from(hash % 64).unwrap_or(0);
        if let Some(number) = vector.get_mut(place).filter(|_| !word.is_empty()) {
            *number += 1.0;
        }
    }
    let length = vector.iter().map(|number| number * number).sum::<f64>().sqrt().max(1.0);
    vector.into_iter().map(|number| number / length).collect()
}
