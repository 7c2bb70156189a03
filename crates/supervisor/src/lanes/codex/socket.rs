//! The control socket of an app server: WebSocket over a unix socket, one JSON object per message.
//!
//! A connection asks and reads answers. It never subscribes to a thread: whoever does is asked for
//! approvals too, and those belong to the human.

use std::path::{Path, PathBuf};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::limits::{
    ANSWER_BYTES_MAX, ANSWER_TIME_MAX, CONNECT_TIME_MAX, MESSAGES_BEFORE_ANSWER_MAX,
};

/// The socket of the app server that terminals of one Codex home share.
pub fn shared_socket(home: &Path) -> PathBuf {
    home.join("app-server-control").join("app-server-control.sock")
}

/// Why an app server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocketError {
    /// Nobody listens there, or not somebody who may be trusted.
    #[error("no app server answers there: {0}")]
    Absent(String),
    /// The connection ended, or went wrong, before the answer came.
    #[error("the app server broke off: {0}")]
    Broken(String),
    /// The answer did not come in time.
    #[error("the app server did not answer in time")]
    Late,
    /// It answered that it will not.
    #[error("the app server refused ({code}): {message}")]
    Refused {
        /// Its number for that.
        code: i64,
        /// Its words, shortened.
        message: String,
    },
}

impl SocketError {
    /// Whether the question itself is unknown to this version of the app server.
    pub(super) fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Refused { code, message }
            if *code == -32601 || message.contains("unknown variant") || message.contains("experimentalApi"))
    }
}

/// A connection that has been greeted.
pub(super) struct Connection {
    stream: WebSocketStream<UnixStream>,
    next_id: u64,
}

impl Connection {
    /// Connects and greets.
    pub(super) async fn open(socket: &Path) -> Result<Self, SocketError> {
        timeout(CONNECT_TIME_MAX, Self::greet(socket)).await.map_err(|_| SocketError::Late)?
    }

    async fn greet(socket: &Path) -> Result<Self, SocketError> {
        let absent = |error: &dyn std::fmt::Display| SocketError::Absent(error.to_string());
        // What lies there is a link: its own path may be too long to connect to, its goal never is.
        let goal = tokio::fs::canonicalize(socket).await.map_err(|error| absent(&error))?;
        let stream = UnixStream::connect(&goal).await.map_err(|error| absent(&error))?;
        let peer = stream.peer_cred().map_err(|error| absent(&error))?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(SocketError::Absent("it belongs to another user".to_owned()));
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(ANSWER_BYTES_MAX))
            .max_frame_size(Some(ANSWER_BYTES_MAX));
        let (stream, _) = client_async_with_config("ws://localhost/", stream, Some(config))
            .await
            .map_err(|error| absent(&error))?;
        let mut connection = Self { stream, next_id: 0 };
        let who = json!({
            "clientInfo": {"name": "waystation", "title": null, "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {"experimentalApi": true},
        });
        connection.call("initialize", who).await?;
        connection.send(&json!({"method": "initialized"})).await?;
        Ok(connection)
    }

    /// Asks one thing and waits for its answer; whatever else comes meanwhile is passed over.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> Result<Value, SocketError> {
        self.next_id = self.next_id.saturating_add(1);
        let id = self.next_id;
        let question = json!({"id": id, "method": method, "params": params});
        timeout(ANSWER_TIME_MAX, async {
            self.send(&question).await?;
            self.answer(id).await
        })
        .await
        .map_err(|_| SocketError::Late)?
    }

    async fn send(&mut self, message: &Value) -> Result<(), SocketError> {
        let text = Message::text(message.to_string());
        self.stream.send(text).await.map_err(|error| SocketError::Broken(error.to_string()))
    }

    async fn answer(&mut self, id: u64) -> Result<Value, SocketError> {
        for _ in 0..MESSAGES_BEFORE_ANSWER_MAX {
            let Some(mut message) = self.next().await? else { continue };
            // A question of the server's own has an id too, and a method.
            if message.get("id").and_then(Value::as_u64) != Some(id)
                || message.get("method").is_some()
            {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(refusal(error));
            }
            return Ok(message.get_mut("result").map(Value::take).unwrap_or_default());
        }
        Err(SocketError::Broken("it talks and does not answer".to_owned()))
    }

    /// The next message that holds JSON; `None` for what belongs to WebSocket itself.
    async fn next(&mut self) -> Result<Option<Value>, SocketError> {
        let broken = |why: String| SocketError::Broken(why);
        match self.stream.next().await {
            None | Some(Ok(Message::Close(_))) => Err(broken("it hung up".to_owned())),
            Some(Err(error)) => Err(broken(error.to_string())),
            Some(Ok(Message::Text(text))) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|_| broken("it sent what is not JSON".to_owned())),
            Some(Ok(_)) => Ok(None),
        }
    }
}

fn refusal(error: &Value) -> SocketError {
    let words = error.get("message").and_then(Value::as_str).unwrap_or_default();
    SocketError::Refused {
        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: words.chars().filter(|sign| !sign.is_control()).take(200).collect(),
    }
}
