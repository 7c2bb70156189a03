//! A model that thinks nothing: it speaks the two APIs that agent CLIs speak, and the one that most
//! servers speak, and answers by a script.
//!
//! Real CLIs start real turns against it, so tests see what an agent would see: when a turn began,
//! what stood in its prompt, and which tools it called.

mod chat;
mod conversation;
mod journal;
mod messages;
mod responses;
mod script;
mod wake;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;

use self::conversation::Conversation;
use self::journal::Journal;
pub use self::journal::{Heard, read_journal};
use self::script::Answer;
pub use self::script::{Rule, Script, Step};
use super::FakeServer;

/// Bytes of a request; CLIs send the whole conversation each time.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a CLI is to do next: the answer in all APIs' common words.
#[derive(Clone, Debug, PartialEq)]
enum Reply {
    /// Call a tool.
    Call {
        /// The name the CLI gave the tool.
        tool: conversation::Tool,
        /// What it is called with.
        with: Value,
    },
    /// Say something, which ends the turn.
    Say(String),
}

/// A running model.
pub struct FakeModel {
    server: FakeServer,
    model: Arc<Model>,
}

struct Model {
    script: Script,
    journal: Journal,
    bodies: Option<PathBuf>,
}

impl FakeModel {
    /// Starts one that answers by this script and writes down what it hears.
    pub async fn start(script: Script, journal: PathBuf, bodies: Option<PathBuf>) -> Self {
        let model = Arc::new(Model { script, journal: Journal::open(journal), bodies });
        let routes = Router::new()
            .route("/v1/responses", post(respond))
            .route("/v1/messages", post(message))
            .route("/v1/chat/completions", post(chat_completion))
            .route("/v1/embeddings", post(embedding))
            .route("/v1/messages/count_tokens", post(count))
            .fallback(get(nothing).post(nothing).head(nothing))
            .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(Arc::clone(&model));
        Self { server: FakeServer::start(routes).await, model }
    }

    /// Where it is reached; CLIs add `/v1/…`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// How many requests it has heard.
    pub fn heard(&self) -> usize {
        self.model.journal.len()
    }

    /// Waits for a request behind the first so many; `None` when none came in time.
    pub async fn hears(
        &self,
        after: usize,
        patience: Duration,
        is_it: impl Fn(&Heard) -> bool,
    ) -> Option<Heard> {
        tokio::time::timeout(patience, self.model.journal.find(after, is_it)).await.ok()
    }
}

async fn respond(State(model): State<Arc<Model>>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let session = word(&headers, "session-id");
    let conversation = responses::read(&request, session);
    let (number, reply) = model.answer("responses", &conversation, &body).await;
    events(responses::write(number, &reply))
}

async fn message(State(model): State<Arc<Model>>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let session = word(&headers, "x-claude-code-session-id");
    let conversation = messages::read(&request, session);
    let (number, reply) = model.answer("messages", &conversation, &body).await;
    let name = request.get("model").and_then(Value::as_str).unwrap_or("fake");
    if request.get("stream").and_then(Value::as_bool).unwrap_or(false) {
        events(messages::write(number, name, &reply))
    } else {
        json(messages::whole(number, name, &reply).to_string())
    }
}

async fn chat_completion(State(model): State<Arc<Model>>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let conversation = chat::read(&request);
    let (number, reply) = model.answer("chat", &conversation, &body).await;
    json(chat::whole(number, &request, &reply).to_string())
}

async fn embedding(body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    json(chat::embeddings(&request).to_string())
}

async fn count() -> Response {
    json(r#"{"input_tokens":10}"#.to_owned())
}

async fn nothing() -> Response {
    json(r#"{"data":[],"models":[]}"#.to_owned())
}

fn word(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn events(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

impl Model {
    async fn answer(
        &self,
        api: &'static str,
        conversation: &Conversation,
        body: &[u8],
    ) -> (u64, Reply) {
        let Answer { reply, delay_ms, turn } = self.script.answer(conversation);
        let number = self.journal.write(api, conversation, &turn, &reply);
        if let Some(folder) = &self.bodies {
            std::fs::write(folder.join(format!("{number:05}.json")), body)
                .expect("the folder of bodies can be written to");
        }
        if delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        }
        (number, reply)
    }
}
