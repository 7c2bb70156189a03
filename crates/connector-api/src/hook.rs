//! What a service sends to the hub by itself.

use serde_json::Value;

use crate::connector::Batch;

/// A request of a service, its body untouched, because signatures cover the bytes.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Parameters of the query, decoded.
    pub query: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl HookRequest {
    /// A header; the first where there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a request meant. The answer is sent after what it says is committed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    /// What happened, if anything.
    pub batch: Batch,
    /// What to answer, with status 200, unless the hub has more to say about an interaction.
    pub answer: HookAnswer,
}

/// What a service is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum HookAnswer {
    /// Plain text: a challenge, or nothing.
    Text(String),
    /// JSON.
    Json(Value),
}

impl From<&str> for HookAnswer {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Default for HookAnswer {
    fn default() -> Self {
        Self::Text(String::new())
    }
}
