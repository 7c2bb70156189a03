//! Plain calls of tools, which agents make all day: these go straight to the catalogue's door.
//!
//! rmcp starts a server for every request of the newer era and hands every request of a session from
//! task to task, so that anything may happen while it is worked on: progress, cancellation, questions.
//! A brief operation is over before any of that could, and what rmcp costs is more than what a post
//! does. So a call of one that is right in every way is answered here, in the same words. Everything
//! else is left to rmcp, and so is whatever is wrong: nothing is refused here that rmcp would not see.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use hub::{Answer, Input};
use protocol::Caller;
use rmcp::model::{ContentBlock, ProtocolVersion, RequestId, RequestMetaObject, ResultType};
use rmcp::model::{JsonRpcVersion2_0, ServerResult};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::http::{SESSION_ID, VERSION, is_json};
use super::server::{Server, trace};
use super::sessions::Sessions;
use super::{failure, review};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const CALL: &str = "tools/call";

/// A call of a tool that is no more than that.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'a> {
    #[serde(default, rename = "_meta")]
    meta: RequestMetaObject,
    name: &'a str,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era<'a> {
    /// In a session, which has this id.
    Session(&'a str),
    /// Each request says everything.
    Request,
}

impl<'a> Message<'a> {
    /// A call that is spelled as the protocol says, with headers that say the same.
    fn read(headers: &'a HeaderMap, body: &'a [u8]) -> Option<(Self, Era<'a>)> {
        // Pages of browsers name their origin, and rmcp knows which may call.
        if headers.contains_key(ORIGIN) || !accepts_both(headers) || !is_json(headers) {
            return None;
        }
        let message: Self = serde_json::from_slice(body).ok()?;
        if message.method != CALL {
            return None;
        }
        let era = message.era(headers)?;
        Some((message, era))
    }

    fn era(&self, headers: &'a HeaderMap) -> Option<Era<'a>> {
        let newer = ProtocolVersion::V_2026_07_28;
        let meta = &self.params.meta;
        match (headers.contains_key(SESSION_ID), meta.protocol_version()) {
            (false, Some(named)) => {
                let is_same = named == newer && only(headers, &VERSION) == Some(newer.as_str());
                let is_whole = meta.missing_required_keys(&newer).is_empty();
                let is_labelled = only(headers, &METHOD) == Some(CALL)
                    && only(headers, &NAME) == Some(self.params.name);
                (is_same && is_whole && is_labelled).then_some(Era::Request)
            }
            (true, None) => {
                let is_older = |version: &str| {
                    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
                    version < newer.as_str() && known.any(|known| known.as_str() == version)
                };
                // Clients of the oldest versions name none.
                let names_none = !headers.contains_key(VERSION);
                let is_older = names_none || only(headers, &VERSION).is_some_and(is_older);
                only(headers, &SESSION_ID).filter(|_| is_older).map(Era::Session)
            }
            _ => None,
        }
    }

    /// What the operation is given; nothing when it is no object.
    fn input(&self) -> Option<Input> {
        let text = self.params.arguments.map_or("{}", RawValue::get);
        text.starts_with('{').then(|| Input::Bytes(text.as_bytes().to_vec()))
    }
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    value.to_str().ok()
}

fn accepts_both(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| {
        accept.contains("application/json") && accept.contains("text/event-stream")
    })
}

/// The answer to a plain call; nothing for whatever rmcp must see.
pub(super) async fn answer(
    server: &Server,
    sessions: &Sessions,
    parts: &Parts,
    body: &Bytes,
) -> Option<Vec<u8>> {
    let (message, era) = Message::read(&parts.headers, body)?;
    let name = server.shared.tools.operation(message.params.name);
    let entry = server.shared.app.catalogue.get(&name)?;
    if !entry.is_brief || name == review::OPERATION {
        return None;
    }
    let caller = parts.extensions.get::<Arc<Caller>>()?;
    let input = message.input()?;
    if let Era::Session(id) = era
        && !sessions.is_used(id).await
    {
        return None;
    }
    let trace = trace(&message.params.meta, Some(parts));
    // Dropped when the client hangs up.
    let gone = CancellationToken::new();
    let _hang_up = gone.clone().drop_guard();
    let call = server.shared.app.hub.call(Arc::clone(caller), trace, gone);
    let request_id = call.identity.request_id;
    match server.shared.app.catalogue.call(call, entry.name, input).await {
        Ok(answer) => Some(success(&message.id, era, &*answer)),
        Err(error) => {
            let refused = failure::tool_result(&error, request_id.to_string());
            let mut result = ServerResult::CallToolResult(refused);
            if era != Era::Request {
                result.strip_result_type_for_legacy_peer();
            }
            Some(reply(&message.id, result))
        }
    }
}

/// A tool's result, with the text of its answer as the door made it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    content: [ContentBlock; 1],
    structured_content: &'a RawValue,
    is_error: bool,
}

fn success(id: &RequestId, era: Era<'_>, answer: &dyn Answer) -> Vec<u8> {
    let json = answer.json();
    let success = Success {
        result_type: (era == Era::Request).then_some(ResultType::COMPLETE),
        content: [ContentBlock::text(answer.brief())],
        structured_content: serde_json::from_slice(&json).expect("an answer is JSON"),
        is_error: false,
    };
    reply(id, success)
}

fn reply(id: &RequestId, result: impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Reply<'a, R> {
        jsonrpc: JsonRpcVersion2_0,
        id: &'a RequestId,
        result: R,
    }
    let reply = Reply { jsonrpc: JsonRpcVersion2_0, id, result };
    serde_json::to_vec(&reply).expect("results are structs with text keys")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NEWER: &[(&str, &str)] = &[
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "post_message"),
    ];
    const OLDER: &[(&str, &str)] = &[
        ("content-type", "application/json; charset=utf-8"),
        ("accept", "text/event-stream, application/json"),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-session-id", "s-1"),
    ];

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let field = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), http::HeaderValue::from_static(value))
        };
        fields.iter().map(field).collect()
    }

    fn newer() -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "post_message",
            "arguments": { "body": "hi" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "progressToken": 3,
            },
        } })
    }

    fn older() -> Value {
        json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
            "name": "post_message", "arguments": { "body": "hi" },
        } })
    }

    fn is_plain(headers: &HeaderMap, body: &Value) -> bool {
        let body = body.to_string();
        let read = Message::read(headers, body.as_bytes());
        read.is_some_and(|(message, _)| message.input().is_some())
    }

    #[test]
    fn calls_of_both_eras_are_plain() {
        let (headers_newer, body) = (headers(NEWER), newer().to_string());
        let (message, era) = Message::read(&headers_newer, body.as_bytes()).unwrap();
        assert_eq!((era, message.params.name), (Era::Request, "post_message"));
        let (mut headers, body) = (headers(OLDER), older().to_string());
        let (_, era) = Message::read(&headers, body.as_bytes()).unwrap();
        assert_eq!(era, Era::Session("s-1"));
        headers.remove(&VERSION);
        assert!(is_plain(&headers, &older()), "clients of the oldest versions name none");
    }

    #[test]
    fn a_body_that_says_more_or_less_is_left_to_rmcp() {
        type Change = fn(&mut Value);
        let changes: [Change; 12] = [
            |body| body["jsonrpc"] = "1.0".into(),
            |body| body["id"] = Value::Null,
            |body| body["id"] = json!([1]),
            |body| body["method"] = "tools/list".into(),
            |body| body["more"] = 1.into(),
            |body| body["params"]["task"] = json!({ "ttl": 1 }),
            |body| body["params"]["name"] = 7.into(),
            |body| body["params"]["arguments"] = json!([]),
            |body| body["params"]["arguments"] = "{}".into(),
            |body| body["params"]["_meta"] = json!([]),
            |body| body["params"] = Value::Null,
            |body| *body = json!([body.clone()]),
        ];
        for (at, change) in changes.iter().enumerate() {
            for (fields, mut body) in [(NEWER, newer()), (OLDER, older())] {
                change(&mut body);
                assert!(!is_plain(&headers(fields), &body), "{at}: {body}");
            }
        }
        let twice =
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"x"}}"#;
        assert!(Message::read(&headers(OLDER), twice.as_bytes()).is_none());
        for key in ["protocolVersion", "clientCapabilities"] {
            let mut body = newer();
            body["params"]["_meta"][format!("io.modelcontextprotocol/{key}")] = json!(7);
            assert!(!is_plain(&headers(NEWER), &body), "{body}");
        }
        let mut body = older();
        body["params"]["_meta"] = newer()["params"]["_meta"].clone();
        assert!(!is_plain(&headers(OLDER), &body), "a session's requests name no version");
    }

    #[test]
    fn headers_that_say_something_else_are_left_to_rmcp() {
        for (name, value) in [
            ("origin", "http://localhost:1"),
            ("accept", "application/json"),
            ("content-type", "text/plain"),
            ("mcp-protocol-version", "2026-07-29"),
            ("mcp-protocol-version", "1999-01-01"),
        ] {
            for (fields, body) in [(NEWER, newer()), (OLDER, older())] {
                let mut headers = headers(fields);
                headers.insert(name, http::HeaderValue::from_static(value));
                assert!(!is_plain(&headers, &body), "{name}: {value}");
            }
        }
        for name in [VERSION, METHOD, NAME] {
            let mut missing = headers(NEWER);
            missing.remove(&name);
            assert!(!is_plain(&missing, &newer()), "without {name}");
            let mut twice = headers(NEWER);
            let value = twice.get(&name).unwrap().clone();
            twice.append(name.clone(), value);
            assert!(!is_plain(&twice, &newer()), "{name} twice");
        }
        for (name, value) in
            [("mcp-name", "get_thread"), ("mcp-method", "tools/list"), ("mcp-session-id", "s-1")]
        {
            let mut headers = headers(NEWER);
            headers.insert(name, http::HeaderValue::from_static(value));
            assert!(!is_plain(&headers, &newer()), "{name}: {value}");
        }
        let mut twice = headers(OLDER);
        twice.append(SESSION_ID, http::HeaderValue::from_static("s-2"));
        assert!(!is_plain(&twice, &older()));
        let mut newer_version = headers(OLDER);
        newer_version.insert(VERSION, http::HeaderValue::from_static("2026-07-28"));
        assert!(!is_plain(&newer_version, &older()));
    }
}
