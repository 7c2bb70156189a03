//! A receiver of webhooks: it keeps what it hears, and answers as it is told.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State as Extract;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use parking_lot::Mutex;

use super::FakeServer;

/// A running receiver.
#[derive(Debug)]
pub struct FakeReceiver {
    server: FakeServer,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    answer: Mutex<(u16, Option<u64>)>,
    heard: Mutex<Vec<Called>>,
}

/// One call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl Called {
    /// A header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }
}

impl FakeReceiver {
    /// Starts it; it answers 204.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared { answer: Mutex::new((204, None)), ..Shared::default() });
        let routes = Router::new().route("/hook", post(hear)).with_state(Arc::clone(&shared));
        Self { server: FakeServer::start(routes).await, shared }
    }

    /// Where it is called.
    pub fn url(&self) -> String {
        format!("{}/hook", self.server.url())
    }

    /// What it answers from now on: a status, and the seconds to wait.
    pub fn answer(&self, status: u16, retry_after_seconds: Option<u64>) {
        *self.shared.answer.lock() = (status, retry_after_seconds);
    }

    /// What it heard so far.
    pub fn heard(&self) -> Vec<Called> {
        self.shared.heard.lock().clone()
    }
}

async fn hear(Extract(shared): Extract<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = headers.iter().map(text).collect();
    shared.heard.lock().push(Called { headers, body: body.to_vec() });
    let (status, retry_after) = *shared.answer.lock();
    let mut answer = StatusCode::from_u16(status).expect("a status of HTTP").into_response();
    if let Some(seconds) = retry_after {
        answer.headers_mut().insert("retry-after", seconds.into());
    }
    answer
}
