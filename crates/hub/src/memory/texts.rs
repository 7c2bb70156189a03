//! What is searched of a memory: the texts of its data.

use protocol::limits::memory::TEXT_BYTES_MAX;
use serde_json::{Map, Value};

/// The texts and numbers of data, one after the other; names of fields tell what they are.
pub(super) fn words(data: &Map<String, Value>) -> String {
    let mut text = String::new();
    add_object(data, &mut text);
    if text.len() > TEXT_BYTES_MAX {
        let mut end = TEXT_BYTES_MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text.trim().replace('\0', " ")
}

fn add_object(object: &Map<String, Value>, text: &mut String) {
    for (name, value) in object {
        // A field that is the memory itself needs no name in front.
        if !matches!(name.as_str(), "text" | "content" | "summary" | "note") {
            text.push_str(name);
            text.push(' ');
        }
        add(value, text);
    }
}

fn add(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => {
            text.push_str(words);
            text.push('\n');
        }
        Value::Number(number) => {
            text.push_str(&number.to_string());
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| add(item, text)),
        Value::Object(fields) => add_object(fields, text),
        Value::Bool(_) | Value::Null => text.push('\n'),
    }
}
