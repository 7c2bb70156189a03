//! `OpenAI`'s chat completions and embeddings.

use connector_api::model::Prompt;
use protocol::limits::model as limits;
use serde_json::{Value, json};

/// A request to write.
pub(super) fn chat(model: &str, prompt: &Prompt) -> Value {
    json!({
        "model": model,
        "temperature": 0,
        "max_tokens": prompt.tokens_max,
        "messages": [
            { "role": "system", "content": prompt.system() },
            { "role": "user", "content": prompt.user() },
        ],
    })
}

/// What was written.
pub(super) fn said(answer: &Value) -> Option<String> {
    answer.pointer("/choices/0/message/content")?.as_str().map(str::to_owned)
}

/// A request to embed.
pub(super) fn embeddings(model: &str, texts: &[String]) -> Value {
    json!({ "model": model, "input": texts, "encoding_format": "float" })
}

/// The vectors, in the order of the texts, whatever order they came in.
pub(super) fn vectors(answer: &Value, count: usize) -> Option<Vec<Vec<f32>>> {
    let data = answer.get("data")?.as_array()?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, one) in data.iter().enumerate() {
        let index = one.get("index").and_then(Value::as_u64);
        let index = index.map_or(Some(place), |index| usize::try_from(index).ok())?;
        let numbers = one.get("embedding")?.as_array()?;
        if numbers.is_empty() || numbers.len() > limits::VECTOR_LENGTH_MAX {
            return None;
        }
        *vectors.get_mut(index)? = Some(numbers.iter().map(number).collect::<Option<_>>()?);
    }
    vectors.into_iter().collect()
}

#[expect(clippy::cast_possible_truncation, reason = "vectors are kept in single precision")]
fn number(value: &Value) -> Option<f32> {
    let number = value.as_f64()? as f32;
    number.is_finite().then_some(number)
}
