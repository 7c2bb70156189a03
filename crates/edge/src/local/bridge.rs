//! `waystation mcp`: stdio on one side, the owner's MCP socket on the other.
//!
//! The owner may be killed and another one started. The bridge remembers the handshake and the
//! subscriptions, plays them again to the new owner, and sends what was not answered once more if
//! doing it twice is harmless; anything else is answered with an error that says so.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

/// One connection to an owner, after the greeting.
pub struct Connection<R, W> {
    /// Lines from the owner.
    pub read: R,
    /// Lines to the owner.
    pub write: W,
}

/// How a bridge reaches an owner; it may start one.
pub trait Connect {
    /// Lines from the owner.
    type Read: AsyncBufRead + Unpin;
    /// Lines to the owner.
    type Write: AsyncWrite + Unpin;

    /// Connects, or says in a sentence why it cannot.
    fn connect(
        &mut self,
    ) -> impl Future<Output = Result<Connection<Self::Read, Self::Write>, String>>;
}

/// What a client has asked and an owner has not answered.
#[derive(Default)]
struct Memory {
    initialize: Option<String>,
    initialized: Option<String>,
    subscribed: BTreeMap<String, String>,
    waiting: HashMap<String, Waiting>,
    /// Ids whose answer was given to the client already: replies to what the bridge played again.
    swallow: Vec<String>,
}

struct Waiting {
    line: String,
    may_repeat: bool,
}

/// Stdio on one side, an owner on the other.
#[derive(Default)]
pub struct Bridge {
    memory: Memory,
    /// What the client has written of its next line; it must outlive the owner it was meant for.
    begun: Vec<u8>,
}

enum Ended {
    Client,
    Owner,
}

impl Bridge {
    /// Carries messages until the client ends its input.
    pub async fn run<C: Connect>(
        mut self,
        mut owner: C,
        mut input: impl AsyncBufRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> Result<(), String> {
        let mut first = true;
        loop {
            let mut connection = owner.connect().await?;
            if !first {
                self.resume(&mut connection.write, &mut output)
                    .await
                    .map_err(|error| format!("the connection to the hub broke again: {error}"))?;
            }
            first = false;
            match self.carry(&mut connection, &mut input, &mut output).await {
                Ok(Ended::Client) => return Ok(()),
                Ok(Ended::Owner) | Err(_) => tracing::info!("the hub went away; connecting again"),
            }
        }
    }

    async fn carry<R, W>(
        &mut self,
        connection: &mut Connection<R, W>,
        input: &mut (impl AsyncBufRead + Unpin),
        output: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<Ended>
    where
        R: AsyncBufRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut input_ended = false;
        let mut from_owner = Vec::new();
        loop {
            tokio::select! {
                read = input.read_until(b'\n', &mut self.begun), if !input_ended => {
                    if read? == 0 {
                        input_ended = true;
                        connection.write.shutdown().await?;
                        continue;
                    }
                    let line = String::from_utf8_lossy(&self.begun).into_owned();
                    self.begun.clear();
                    self.memory.note_request(&line);
                    connection.write.write_all(line.as_bytes()).await?;
                    connection.write.flush().await?;
                }
                read = connection.read.read_until(b'\n', &mut from_owner) => {
                    if read? == 0 {
                        return Ok(if input_ended { Ended::Client } else { Ended::Owner });
                    }
                    let keep = self.memory.note_answer(&from_owner);
                    if keep {
                        output.write_all(&from_owner).await?;
                        output.flush().await?;
                    }
                    from_owner.clear();
                }
            }
        }
    }

    /// Brings a new owner to where the old one was.
    async fn resume(
        &mut self,
        owner: &mut (impl AsyncWrite + Unpin),
        output: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        let mut lines = Vec::new();
        if let Some(initialize) = &self.memory.initialize {
            if !self.memory.waiting.values().any(|waiting| waiting.line == *initialize) {
                self.memory.swallow.extend(id_of(initialize));
            }
            lines.push(initialize.clone());
            lines.extend(self.memory.initialized.clone());
        }
        for line in self.memory.subscribed.values() {
            if let Some(id) = id_of(line).filter(|id| !self.memory.waiting.contains_key(id)) {
                self.memory.swallow.push(id);
                lines.push(line.clone());
            }
        }
        let unanswered = std::mem::take(&mut self.memory.waiting);
        for (id, waiting) in unanswered {
            if waiting.may_repeat {
                if !lines.contains(&waiting.line) {
                    lines.push(waiting.line.clone());
                }
                self.memory.waiting.insert(id, waiting);
            } else {
                output.write_all(lost(&id).as_bytes()).await?;
            }
        }
        output.flush().await?;
        for line in lines {
            owner.write_all(line.as_bytes()).await?;
        }
        owner.flush().await
    }
}

/// What a client hears of a request that must not be sent twice.
fn lost(id: &str) -> String {
    let id: Value = serde_json::from_str(id).unwrap_or(Value::Null);
    let error = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": protocol::ErrorCode::Unavailable.json_rpc_code(),
            "message": "the hub restarted before it answered; whether the change was made is not known",
            "data": { "code": "UNAVAILABLE", "retryable": true,
                "hint": "look before you send it again, or use an idempotency_key" },
        },
    });
    format!("{error}\n")
}

fn id_of(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    value.get("id").map(Value::to_string)
}

impl Memory {
    fn note_request(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let uri = || message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
        match method {
            "initialize" => self.initialize = Some(line.to_owned()),
            "notifications/initialized" => self.initialized = Some(line.to_owned()),
            "resources/subscribe" => {
                self.subscribed.insert(uri().to_owned(), line.to_owned());
            }
            "resources/unsubscribe" => {
                self.subscribed.remove(uri());
            }
            "notifications/cancelled" => {
                if let Some(id) = message.pointer("/params/requestId") {
                    self.waiting.remove(&id.to_string());
                }
            }
            _ => {}
        }
        if let (Some(id), false) = (message.get("id"), method.is_empty()) {
            let waiting = Waiting { line: line.to_owned(), may_repeat: may_repeat(&message) };
            self.waiting.insert(id.to_string(), waiting);
        }
    }

    /// Whether the client should see this line.
    fn note_answer(&mut self, line: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return true };
        let Some(id) = message.get("id").filter(|_| message.get("method").is_none()) else {
            return true;
        };
        let id = id.to_string();
        if let Some(position) = self.swallow.iter().position(|known| *known == id) {
            self.swallow.swap_remove(position);
            return false;
        }
        self.waiting.remove(&id);
        true
    }
}

/// Whether doing a request twice is the same as doing it once.
fn may_repeat(message: &Value) -> bool {
    if message.get("method").and_then(Value::as_str) != Some("tools/call") {
        return true;
    }
    let name = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    let has_key =
        message.pointer("/params/arguments/idempotency_key").is_some_and(Value::is_string);
    has_key || !matches!(name, "create_thread" | "post_message")
}
