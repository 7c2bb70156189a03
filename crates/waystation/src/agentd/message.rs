//! What agentd knows of a message. The rest is for the hub to read, word for word as its client wrote it.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use connector_api::toolkit::ApiRequest;
use hub::{Catalogue, Effect};
use protocol::ErrorCode;
use protocol::limits::mcp::LAST_CALLS_TIMEOUT;
use serde::Deserialize;
use serde_json::{Value, json};

/// A message of the client.
pub(super) struct Message {
    pub(super) text: Vec<u8>,
    head: Head,
    params: Params,
}

#[derive(Default, Deserialize)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
}

#[derive(Default, Deserialize)]
struct Whole {
    params: Params,
}

#[derive(Default, Deserialize)]
struct Params {
    #[serde(default, rename = "_meta")]
    meta: Meta,
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

impl Message {
    /// What stands on a line, if anything does.
    pub(super) fn on(line: &[u8]) -> Option<Self> {
        let text = line.trim_ascii();
        // What cannot be read is refused by the hub, which says why.
        let head = serde_json::from_slice(text).unwrap_or_default();
        let whole: Whole = serde_json::from_slice(text).unwrap_or_default();
        (!text.is_empty()).then(|| Self { text: text.to_vec(), head, params: whole.params })
    }

    pub(super) fn method(&self) -> &str {
        self.head.method.as_deref().unwrap_or_default()
    }

    /// The id of a request.
    pub(super) fn id(&self) -> Option<&Value> {
        self.head.id.as_ref().filter(|_| !self.method().is_empty())
    }

    /// Clients of the newer era say in each message what those of the older agreed on before.
    pub(super) fn version(&self) -> Option<&str> {
        self.params.meta.version.as_deref()
    }

    /// The request that its client gives up.
    pub(super) fn gives_up(&self) -> Option<&Value> {
        self.params.request_id.as_ref().filter(|_| self.method() == "notifications/cancelled")
    }

    pub(super) fn is_listen(&self) -> bool {
        self.method() == "subscriptions/listen"
    }

    /// What the hub says in the end to a client that listens. The client itself has not ended that.
    pub(super) fn end_in(&self, said: &[u8]) -> Option<Value> {
        let said = self.is_listen().then(|| serde_json::from_slice::<Value>(said).ok())??;
        (said.get("id") == self.id()).then_some(said)
    }

    /// With the headers of the newer era, which repeat what the message says.
    pub(super) fn named(&self, version: &str, request: ApiRequest) -> ApiRequest {
        let request = request.header("mcp-protocol-version", in_header(version));
        let request = request.header("mcp-method", in_header(self.method()));
        match self.params.name.as_ref().or(self.params.uri.as_ref()) {
            Some(name) => request.header("mcp-name", in_header(name)),
            None => request,
        }
    }

    /// How long a request may go on when its client says nothing more.
    pub(super) fn patience(&self) -> Duration {
        let only_waits = self.is_listen() || self.method() == "tools/call" && self.is_wait();
        if only_waits { Duration::ZERO } else { LAST_CALLS_TIMEOUT }
    }

    fn is_wait(&self) -> bool {
        static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(hub::catalogue);
        // Tools are listed without dots, and known with them too.
        let tool = self.params.name.as_deref().unwrap_or_default().replace('.', "_");
        let entry = CATALOGUE.entries().iter().find(|entry| entry.name.replace('.', "_") == tool);
        entry.is_some_and(|entry| entry.waits() && entry.effect == Effect::Read)
    }

    /// What the client hears of it when it was under way at the end of the input.
    pub(super) fn called_off(&self) -> Vec<u8> {
        let code = ErrorCode::Cancelled;
        let error = json!({ "jsonrpc": "2.0", "id": self.id(), "error": {
            "code": code.json_rpc_code(), "message": code.meaning(),
            "data": { "code": code, "retryable": code.is_retryable() },
        } });
        error.to_string().into_bytes()
    }
}

/// A value as the protocol has it in a header, where not every character may stand.
fn in_header(value: &str) -> Cow<'_, str> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim_matches(' ').len() == value.len()
        && !value.starts_with("=?base64?");
    if is_plain {
        return value.into();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_stand_in_a_header_is_encoded() {
        assert_eq!(in_header("threads://th_1"), "threads://th_1");
        assert_eq!(in_header("é"), "=?base64?w6k=?=");
        assert_eq!(in_header("a\n"), "=?base64?YQo=?=");
        assert_eq!(in_header(" a"), "=?base64?IGE=?=");
        assert_eq!(in_header("=?base64?YQo=?="), "=?base64?PT9iYXNlNjQ/WVFvPT89?=");
    }

    #[test]
    fn a_message_that_cannot_be_read_is_known_by_its_id_and_method() {
        let line =
            br#"{"id":7,"method":"tools/call","params":{"name":"a","arguments":{"b":"\ud83d"}}}"#;
        let message = Message::on(line).unwrap();
        assert_eq!((message.id(), message.method()), (Some(&json!(7)), "tools/call"));
        assert_eq!(message.params.name.as_deref(), Some("a"));
        assert_eq!(message.text, line);
        assert!(Message::on(b" \n").is_none());
        assert!(Message::on(b"{\"id\":").unwrap().id().is_none());
    }
}
