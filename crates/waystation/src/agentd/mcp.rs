//! MCP for agents of this machine: lines on one side, the hub's `/mcp` over HTTP on the other.
//!
//! When the hub is away, what was not sent waits for it. When a connection breaks off with something
//! under way, or a token or a session has ended, the local connection ends too: the bridge at its other
//! end connects again with a fresh token, plays the handshake again and repeats what may be repeated.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use connector_api::toolkit::{ApiRequest, ApiStream, HttpError};
use edge::local::{Greeting, Marks};
use hub::{Catalogue, Effect};
use parking_lot::Mutex;
use protocol::limits::mcp::LAST_CALLS_TIMEOUT;
use protocol::{ErrorCode, limits};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::remote::Remote;
use super::sse::Events;

/// How long the hub may say nothing at all.
const SILENCE_MAX: Duration = Duration::from_secs(90);
/// The first pause after the hub could not be reached; it doubles.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Messages that wait to be written to the client.
const WAITING_MAX: usize = 64;
const BOTH: &str = "application/json, text/event-stream";

/// One client's conversation with the hub.
struct Conversation {
    remote: Remote,
    bearer: String,
    /// What the hub calls this conversation, and the version both agreed on.
    agreed: Mutex<(Option<String>, Option<String>)>,
    to_client: mpsc::Sender<Vec<u8>>,
    /// The client says nothing more.
    input_ended: CancellationToken,
    /// Ends the conversation: the client must connect again.
    over: CancellationToken,
}

/// The conversation cannot go on.
struct Over;

/// What the client has heard of an answer.
enum Forwarded {
    All,
    /// What it listens to goes on, although the hub has ended it.
    NotTheEnd,
}

/// Carries messages until one side ends.
pub(super) async fn carry(
    remote: &Remote,
    greeting: &Greeting,
    read: BufReader<OwnedReadHalf>,
    mut write: OwnedWriteHalf,
    stop: CancellationToken,
) -> io::Result<()> {
    let bearer = match admitted(remote, greeting, &stop).await {
        Some(Ok(bearer)) => bearer,
        Some(Err(reason)) => {
            let refusal = json!({ "ok": false, "reason": reason });
            return write.write_all(format!("{refusal}\n").as_bytes()).await;
        }
        None => return Ok(()),
    };
    write.write_all(b"{\"ok\":true}\n").await?;
    let (to_client, mut lines) = mpsc::channel::<Vec<u8>>(WAITING_MAX);
    let over = stop.child_token();
    let conversation = Arc::new(Conversation {
        remote: remote.clone(),
        bearer,
        agreed: Mutex::default(),
        to_client,
        input_ended: CancellationToken::new(),
        over: over.clone(),
    });
    let writing = async {
        while let Some(mut line) = lines.recv().await {
            line.push(b'\n');
            write.write_all(&line).await?;
        }
        Ok::<_, io::Error>(())
    };
    let reading = async {
        conversation.listen(read).await;
        // Dropped, so that the writing ends when the last answer is written.
        drop(conversation);
    };
    tokio::select! {
        ((), written) = async { tokio::join!(reading, writing) } => written,
        () = over.cancelled() => Ok(()),
    }
}

/// The token of whoever greets, once the hub has said that it is one; `None` when told to stop.
async fn admitted(
    remote: &Remote,
    greeting: &Greeting,
    stop: &CancellationToken,
) -> Option<Result<String, String>> {
    let bearer = match remote.bearer(greeting) {
        Ok(bearer) => bearer,
        Err(reason) => return Some(Err(reason)),
    };
    let (mut pause, unmarked) = (PAUSE, Marks::default());
    loop {
        // No operation has this name: whoever is told so is somebody.
        let asked = tokio::select! {
            asked = remote.ask(&bearer, "who_am_i", json!({}), &unmarked) => asked,
            () = stop.cancelled() => return None,
        };
        match asked {
            Ok(answer) if answer.status == 401 => {
                let error: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                let reason = error.pointer("/error/message").and_then(Value::as_str);
                return Some(Err(reason.unwrap_or("the hub refused the token").to_owned()));
            }
            // Whoever issued the token may be away, and the hub too busy: neither is for ever.
            Ok(answer) if answer.status == 503 => tracing::debug!("the hub cannot tell yet"),
            Ok(_) => return Some(Ok(bearer)),
            Err(error) => tracing::debug!(%error, "the hub is away"),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
            () = stop.cancelled() => return None,
        }
    }
}

impl Conversation {
    /// Passes on what the client says until it ends its input, and waits for the answers.
    async fn listen(self: &Arc<Self>, mut read: BufReader<OwnedReadHalf>) {
        let mut asking = JoinSet::new();
        let mut hearing = JoinSet::new();
        let mut cancellable = HashMap::<String, AbortHandle>::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            match read.read_until(b'\n', &mut line).await {
                Ok(1..) if is_short(&line) => {}
                Ok(0) => break,
                _ => return self.over.cancel(),
            }
            while asking.try_join_next().is_some() {}
            cancellable.retain(|_, request| !request.is_finished());
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
            let is_request = message.get("id").is_some() && !method.is_empty();
            if is_request && method != "initialize" {
                let conversation = Arc::clone(self);
                let cancelled = version_of(&message).map(|_| message["id"].to_string());
                let request = asking.spawn(async move { conversation.pass_on(&message).await });
                cancellable.extend(cancelled.map(|id| (id, request)));
                continue;
            }
            // In the newer era nothing cancels a request but the end of its stream.
            if method == "notifications/cancelled"
                && let Some(id) = message.pointer("/params/requestId").map(Value::to_string)
                && let Some(request) = cancellable.remove(&id)
            {
                request.abort();
                continue;
            }
            // The handshake, and what has no answer, stays in its order.
            let is_ready = method == "notifications/initialized";
            self.pass_on(&message).await;
            if is_ready && self.agreed.lock().0.is_some() {
                let conversation = Arc::clone(self);
                hearing.spawn(async move { conversation.hear().await });
            }
        }
        self.input_ended.cancel();
        while asking.join_next().await.is_some() {}
        hearing.shutdown().await;
        self.leave().await;
    }

    async fn pass_on(&self, message: &Value) {
        let too_late = async {
            self.input_ended.cancelled().await;
            tokio::time::sleep(patience(message)).await;
        };
        let passed = tokio::select! {
            biased;
            passed = self.ask(message) => passed,
            () = too_late => self.say(called_off(message)).await,
        };
        if passed.is_err() {
            self.over.cancel();
        }
    }

    async fn ask(&self, message: &Value) -> Result<(), Over> {
        let mut pause = PAUSE;
        loop {
            let request = self.post(message).map_err(|_| Over)?;
            match self.remote.http.open_any_stream(request).await {
                Ok(answer) => {
                    self.take_in(message, &answer)?;
                    match self.forward(message, answer).await? {
                        Forwarded::All => return Ok(()),
                        // The hub stops, or the token is over: the next one hears of it.
                        Forwarded::NotTheEnd => pause = PAUSE,
                    }
                }
                // Nothing of it was sent: it waits until the hub is back.
                Err(error) if error.is_unsent() => tracing::debug!(%error, "the hub is away"),
                Err(_) => return Err(Over),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Looks at what an answer says of the conversation itself.
    fn take_in(&self, message: &Value, answer: &ApiStream) -> Result<(), Over> {
        let names_session = version_of(message).is_none() && self.agreed.lock().0.is_some();
        // Without a session, 404 is a method that the hub does not have.
        if answer.status() == 401 || answer.status() == 404 && names_session {
            return Err(Over);
        }
        if message.get("method").and_then(Value::as_str) == Some("initialize") {
            self.agreed.lock().0 = answer.header("mcp-session-id").map(str::to_owned);
        }
        Ok(())
    }

    /// Hands an answer, or each message of a stream of them, to the client.
    async fn forward(&self, message: &Value, mut answer: ApiStream) -> Result<Forwarded, Over> {
        let kind = answer.header("content-type").unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        let status = answer.status();
        let mut events = Events::default();
        let mut whole = Vec::new();
        while let Some(piece) = answer.next().await.map_err(|_| Over)? {
            if is_stream {
                let said = events.take(&piece, limits::API_ANSWER_BYTES_MAX).ok_or(Over)?;
                for said in said {
                    if ends_listening(message, &said) {
                        return Ok(Forwarded::NotTheEnd);
                    }
                    self.say(said).await?;
                }
            } else {
                whole.extend_from_slice(&piece);
                if whole.len() > limits::API_ANSWER_BYTES_MAX {
                    return Err(Over);
                }
            }
        }
        match (serde_json::from_slice::<Value>(&whole), message.get("id")) {
            (Ok(answer), _) if answer.get("jsonrpc").is_some() => {
                self.say(answer.to_string().into_bytes()).await?;
            }
            (_, Some(id)) if !is_stream && message.get("method").is_some() => {
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": {
                    "code": -32603, "message": format!("the hub answered with status {status}"),
                } });
                self.say(error.to_string().into_bytes()).await?;
            }
            _ => {}
        }
        Ok(Forwarded::All)
    }

    /// Listens for what the hub says by itself.
    async fn hear(&self) {
        loop {
            let Ok(request) = ApiRequest::get(&self.remote.hub, "mcp") else { return };
            let request = self.with_names(request.header("accept", "text/event-stream"));
            match self.remote.http.open_any_stream(request.timeout(SILENCE_MAX)).await {
                Ok(stream) if matches!(stream.status(), 401 | 404) => return self.over.cancel(),
                // The hub has nothing to say by itself; anything else passes, such as a proxy without it.
                Ok(stream) if stream.status() == 405 => return,
                Ok(stream) if stream.status() != 200 => {
                    tracing::debug!(status = stream.status(), "the hub cannot be heard");
                }
                Ok(stream) => {
                    if self.forward(&Value::Null, stream).await.is_err() {
                        tracing::debug!("the hub's own messages broke off");
                    }
                }
                Err(error) => tracing::debug!(%error, "the hub is away"),
            }
            tokio::time::sleep(PAUSE_MAX).await;
        }
    }

    /// Tells the hub that the client is gone.
    async fn leave(&self) {
        if self.agreed.lock().0.is_none() {
            return;
        }
        if let Ok(request) = ApiRequest::delete(&self.remote.hub, "mcp") {
            let told = self.remote.http.call(self.with_names(request)).await;
            tracing::debug!(is_told = told.is_ok(), "a client has left");
        }
    }

    async fn say(&self, message: Vec<u8>) -> Result<(), Over> {
        if self.agreed.lock().1.is_none()
            && let Ok(value) = serde_json::from_slice::<Value>(&message)
        {
            let version = value.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.agreed.lock().1 = version.map(str::to_owned);
        }
        self.to_client.send(message).await.map_err(|_| Over)
    }

    fn post(&self, message: &Value) -> Result<ApiRequest, HttpError> {
        let mut request = ApiRequest::post(&self.remote.hub, "mcp")?.header("accept", BOTH);
        if let Some(version) = version_of(message) {
            let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            request = request.header("mcp-protocol-version", in_header(version));
            request = request.header("mcp-method", in_header(text("/method").unwrap_or_default()));
            if let Some(name) = text("/params/name").or_else(|| text("/params/uri")) {
                request = request.header("mcp-name", in_header(name));
            }
            return Ok(request.bearer(&self.bearer).json(message.clone()).timeout(SILENCE_MAX));
        }
        Ok(self.with_names(request).json(message.clone()).timeout(SILENCE_MAX))
    }

    fn with_names(&self, request: ApiRequest) -> ApiRequest {
        let mut request = request.bearer(&self.bearer);
        let (session, version) = self.agreed.lock().clone();
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = version {
            request = request.header("mcp-protocol-version", version);
        }
        request
    }
}

/// Whether a message is the end of what the client listens to. The client itself has not ended it.
fn ends_listening(asked: &Value, said: &[u8]) -> bool {
    asked.get("method").and_then(Value::as_str) == Some("subscriptions/listen")
        && serde_json::from_slice::<Value>(said)
            .is_ok_and(|said| said.get("result").is_some() && said.get("id") == asked.get("id"))
}

/// How long a request may go on when its client says nothing more.
fn patience(message: &Value) -> Duration {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(hub::catalogue);
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
    // Tools are listed without dots, and known with them too.
    let is_tool =
        |name: &str| text("/params/name").is_some_and(|tool| tool.replace('.', "_") == name);
    let only_waits = match text("/method") {
        Some("subscriptions/listen") => true,
        Some("tools/call") => CATALOGUE.entries().iter().any(|entry| {
            entry.waits() && entry.effect == Effect::Read && is_tool(&entry.name.replace('.', "_"))
        }),
        _ => false,
    };
    if only_waits { Duration::ZERO } else { LAST_CALLS_TIMEOUT }
}

/// What a client hears of a request that was under way when it ended its input.
fn called_off(message: &Value) -> Vec<u8> {
    let code = ErrorCode::Cancelled;
    let error = json!({ "jsonrpc": "2.0", "id": message.get("id"), "error": {
        "code": code.json_rpc_code(), "message": code.meaning(),
        "data": { "code": code, "retryable": code.is_retryable() },
    } });
    error.to_string().into_bytes()
}

/// Whether a line is one that the hub takes.
fn is_short(line: &[u8]) -> bool {
    line.strip_suffix(b"\n").unwrap_or(line).len() <= limits::BODY_BYTES_MAX
}

/// Clients of the newer era say in each message what those of the older agreed on before.
fn version_of(message: &Value) -> Option<&str> {
    message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")?.as_str()
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
    fn a_line_is_as_long_as_the_message_on_it() {
        let mut line = vec![b'x'; limits::BODY_BYTES_MAX];
        assert!(is_short(&line));
        line.push(b'\n');
        assert!(is_short(&line));
        line.push(b'\n');
        assert!(!is_short(&line));
    }
}
