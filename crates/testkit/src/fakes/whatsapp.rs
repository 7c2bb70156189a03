//! WhatsApp's Graph API, and the caller that reports what was said.
//!
//! Reports are signed over their bytes as they stand. They come twice, in the wrong order, and again
//! and again until somebody answers 200.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use ring::hmac;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::FakeServer;

/// How often a report is sent before WhatsApp gives up.
const TRIES_MAX: usize = 10;

/// A running Graph API.
#[derive(Debug)]
pub struct FakeWhatsApp {
    server: FakeServer,
    state: Arc<State>,
}

/// A request of WhatsApp's to a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FakeHook {
    /// `GET` or `POST`.
    pub method: String,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Parameters of the query.
    pub query: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

#[derive(Debug, Default)]
struct State {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    url: String,
    files: BTreeMap<String, (String, Vec<u8>)>,
    silent_for_a_day: BTreeSet<String>,
    failures: VecDeque<(StatusCode, Value)>,
    sent: Vec<Value>,
    /// Messages that are taken and answered with nothing of use.
    lost: usize,
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeWhatsApp {
    /// The token it accepts.
    pub const TOKEN: &str = "EAAG-token";
    /// The secret it signs with.
    pub const APP_SECRET: &str = "app-secret";
    /// The id of its number.
    pub const PHONE_NUMBER_ID: &str = "1122334455667";
    /// Its number.
    pub const NUMBER: &str = "15550783881";

    /// Starts it.
    pub async fn start() -> Self {
        let state = Arc::new(State::default());
        let routes = Router::new()
            .route("/v26.0/{id}", get(node))
            .route("/v26.0/{id}/messages", post(messages))
            .route("/files/{id}", get(file))
            .with_state(Arc::clone(&state));
        let server = FakeServer::start(routes).await;
        state.lock().url = server.url();
        Self { server, state }
    }

    /// What a link has as its `base_url`.
    pub fn url(&self) -> String {
        format!("{}/v26.0", self.server.url())
    }

    /// A file that somebody sent.
    pub fn add_file(&self, id: &str, mime_type: &str, bytes: &[u8]) {
        self.state.lock().files.insert(id.to_owned(), (mime_type.to_owned(), bytes.to_vec()));
    }

    /// A day passes without a word of this person's.
    pub fn close_window(&self, wa_id: &str) {
        self.state.lock().silent_for_a_day.insert(wa_id.to_owned());
    }

    /// Refuses the next call with this status and error.
    pub fn fail_next(&self, status: u16, error: Value) {
        let status = StatusCode::from_u16(status).expect("a status of HTTP");
        self.state.lock().failures.push_back((status, error));
    }

    /// Takes the next message, and its answer is lost on the way.
    pub fn lose_next_answer(&self) {
        self.state.lock().lost += 1;
    }

    /// The bodies of the messages it was asked to send.
    pub fn sent(&self) -> Vec<Value> {
        self.state.lock().sent.clone()
    }

    /// The question whether a hook is the right one.
    pub fn challenge(verify_token: &str, challenge: &str) -> FakeHook {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        FakeHook {
            method: "GET".to_owned(),
            query: vec![
                pair("hub.mode", "subscribe"),
                pair("hub.challenge", challenge),
                pair("hub.verify_token", verify_token),
            ],
            ..FakeHook::default()
        }
    }

    /// A report, signed.
    pub fn hook(body: &[u8]) -> FakeHook {
        let key = hmac::Key::new(hmac::HMAC_SHA256, Self::APP_SECRET.as_bytes());
        let tag = hmac::sign(&key, body);
        let hex = tag.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        FakeHook {
            method: "POST".to_owned(),
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("x-hub-signature-256".to_owned(), format!("sha256={hex}")),
            ],
            body: body.to_vec(),
            ..FakeHook::default()
        }
    }

    /// Reports everything, newest first and everything twice, each until the answer is 200. Gives
    /// how many requests that took.
    pub fn report(bodies: &[Vec<u8>], mut receive: impl FnMut(&FakeHook) -> u16) -> usize {
        let mut requests = 0;
        for body in bodies.iter().rev().chain(bodies) {
            let hook = Self::hook(body);
            for _ in 0..TRIES_MAX {
                requests += 1;
                if receive(&hook) == 200 {
                    break;
                }
            }
        }
        requests
    }

    /// Sends a report to a hub: `http://127.0.0.1:3000/hooks/…`. Gives the status of the answer.
    pub async fn post(url: &str, hook: &FakeHook) -> std::io::Result<u16> {
        let rest = url.strip_prefix("http://").expect("a hub in a test has no TLS");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut stream = TcpStream::connect(host).await?;
        let mut head = format!("{} /{path} HTTP/1.1\r\nhost: {host}\r\n", hook.method);
        for (name, value) in &hook.headers {
            head.push_str(&[name, ": ", value, "\r\n"].concat());
        }
        head.push_str(&["content-length: ", &hook.body.len().to_string(), "\r\n"].concat());
        head.push_str("connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&hook.body).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.ok_or_else(|| std::io::ErrorKind::InvalidData.into())
    }
}

fn refusal(status: StatusCode, error: &Value) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}

/// Refuses a call without the token, or one that was to be refused.
fn gate(state: &State, headers: &HeaderMap) -> Option<Response> {
    let expected = format!("Bearer {}", FakeWhatsApp::TOKEN);
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    if given != Some(expected.as_str()) {
        let error = json!({ "message": "Invalid OAuth access token - Cannot parse access token",
            "type": "OAuthException", "code": 190, "fbtrace_id": "A1" });
        return Some(refusal(StatusCode::UNAUTHORIZED, &error));
    }
    let (status, error) = state.lock().failures.pop_front()?;
    Some(refusal(status, &error))
}

async fn node(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Some(refused) = gate(&state, &headers) {
        return refused;
    }
    if id == FakeWhatsApp::PHONE_NUMBER_ID {
        return Json(json!({ "display_phone_number": "+1 555-078-3881",
            "verified_name": "Lucky Shrub", "quality_rating": "GREEN", "id": id }))
        .into_response();
    }
    let state = state.lock();
    let Some((mime_type, bytes)) = state.files.get(&id) else {
        let error = json!({ "message": "Unsupported get request. Object does not exist",
            "type": "GraphMethodException", "code": 100, "error_subcode": 33 });
        return refusal(StatusCode::BAD_REQUEST, &error);
    };
    // The query belongs to the address; without it the file is not found.
    let url = format!("{}/files/{id}?ext=1&hash=x", state.url);
    Json(json!({ "messaging_product": "whatsapp", "url": url, "mime_type": mime_type,
        "sha256": "-", "file_size": bytes.len(), "id": id }))
    .into_response()
}

async fn file(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    uri: axum::http::Uri,
    headers: HeaderMap,
) -> Response {
    if let Some(refused) = gate(&state, &headers) {
        return refused;
    }
    match state.lock().files.get(&id).filter(|_| uri.query() == Some("ext=1&hash=x")) {
        Some((_, bytes)) => bytes.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn messages(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if let Some(refused) = gate(&state, &headers) {
        return refused;
    }
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_complete = id == FakeWhatsApp::PHONE_NUMBER_ID
        && text("messaging_product") == "whatsapp"
        && !(text("to").is_empty() && text("recipient").is_empty());
    if !is_complete {
        let error = json!({ "message": "(#100) Invalid parameter", "code": 100 });
        return refusal(StatusCode::BAD_REQUEST, &error);
    }
    let mut state = state.lock();
    let to = text("to");
    if state.silent_for_a_day.contains(&to) {
        let error = json!({ "message": "(#131047) Re-engagement message", "code": 131_047,
            "type": "OAuthException", "error_data": { "details": "More than 24 hours" } });
        return refusal(StatusCode::BAD_REQUEST, &error);
    }
    state.sent.push(body);
    let message_id = format!("wamid.sent{}", state.sent.len());
    if state.lost > 0 {
        state.lost -= 1;
        return (StatusCode::BAD_GATEWAY, "<html>not the Graph API</html>").into_response();
    }
    Json(json!({ "messaging_product": "whatsapp", "contacts": [{ "input": to, "wa_id": to }],
        "messages": [{ "id": message_id, "message_status": "accepted" }] }))
    .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_report_reaches_a_hub_byte_for_byte() {
        let body = "{\"emoji\":\"\u{1f389}\\ud83d\\ude2e\"}".as_bytes();
        let hook = FakeWhatsApp::hook(body);
        let expected = hook.clone();
        let receive = move |headers: HeaderMap, body: axum::body::Bytes| async move {
            let signature =
                headers.get("x-hub-signature-256").map(|value| value.as_bytes().to_vec());
            let is_same = body == expected.body
                && signature.as_deref() == Some(expected.headers[1].1.as_bytes());
            if is_same { StatusCode::OK } else { StatusCode::IM_A_TEAPOT }
        };
        let hub = FakeServer::start(Router::new().route("/hooks/1", post(receive))).await;
        let status = FakeWhatsApp::post(&format!("{}/hooks/1", hub.url()), &hook).await.unwrap();
        assert_eq!(status, 200);
    }
}
