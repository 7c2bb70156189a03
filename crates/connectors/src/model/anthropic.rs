//! Anthropic's messages.

use connector_api::model::Prompt;
use serde_json::{Value, json};

/// The version of the API that is spoken.
pub(super) const VERSION: &str = "2023-06-01";

/// A request to write.
pub(super) fn message(model: &str, prompt: &Prompt) -> Value {
    json!({
        "model": model,
        "max_tokens": prompt.tokens_max,
        "system": prompt.system(),
        "messages": [{ "role": "user", "content": prompt.user() }],
    })
}

/// What was written: every block of text, joined.
pub(super) fn said(answer: &Value) -> Option<String> {
    let blocks = answer.get("content")?.as_array()?;
    let texts = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
    let texts: Vec<&str> = texts.filter_map(|block| block.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
