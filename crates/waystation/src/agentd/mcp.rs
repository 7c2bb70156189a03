//! MCP for agents of this machine: lines on one side, the hub's `/mcp` over HTTP on the other.
//!
//! When the hub is away, what was not sent waits for it. When a connection breaks off with something
//! under way, or a token or a session has ended, the local connection ends too: the bridge at its other
//! end connects again with a fresh token, plays the handshake again and repeats what may be repeated.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use connector_api::toolkit::{ApiRequest, ApiStream, HttpError};
use edge::local::{Greeting, Marks};
use parking_lot::Mutex;
use protocol::{ErrorCode, limits};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::message::Message;
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
            asked = remote.ask(&bearer, "who_am_i", b"{}", &unmarked) => asked,
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
            let Some(message) = Message::on(&line) else { continue };
            if let Some(id) = message.id().map(Value::to_string)
                && message.method() != "initialize"
            {
                let conversation = Arc::clone(self);
                let is_modern = message.version().is_some();
                let request = asking.spawn(async move { conversation.pass_on(&message).await });
                cancellable.extend(is_modern.then_some((id, request)));
                continue;
            }
            // In the newer era nothing cancels a request but the end of its stream.
            let given_up = message.gives_up().map(Value::to_string);
            if let Some(request) = given_up.and_then(|id| cancellable.remove(&id)) {
                request.abort();
                continue;
            }
            // The handshake, and what has no answer, stays in its order.
            let is_ready = message.method() == "notifications/initialized";
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

    async fn pass_on(&self, message: &Message) {
        let too_late = async {
            self.input_ended.cancelled().await;
            tokio::time::sleep(message.patience()).await;
        };
        let passed = tokio::select! {
            biased;
            passed = self.ask(message) => passed,
            () = too_late => self.say(message.called_off()).await,
        };
        if passed.is_err() {
            self.over.cancel();
        }
    }

    async fn ask(&self, message: &Message) -> Result<(), Over> {
        let mut pause = PAUSE;
        loop {
            let request = self.post(message).map_err(|_| Over)?;
            match self.remote.http.open_any_stream(request).await {
                Ok(answer) => {
                    self.take_in(message, &answer)?;
                    match self.forward(Some(message), answer).await? {
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
    fn take_in(&self, message: &Message, answer: &ApiStream) -> Result<(), Over> {
        let names_session = message.version().is_none() && self.agreed.lock().0.is_some();
        // Without a session, 404 is a method that the hub does not have.
        if answer.status() == 401 || answer.status() == 404 && names_session {
            return Err(Over);
        }
        if message.method() == "initialize" {
            self.agreed.lock().0 = answer.header("mcp-session-id").map(str::to_owned);
        }
        Ok(())
    }

    /// Hands an answer, or each message of a stream of them, to the client.
    async fn forward(
        &self,
        message: Option<&Message>,
        mut answer: ApiStream,
    ) -> Result<Forwarded, Over> {
        let kind = answer.header("content-type").unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        let status = answer.status();
        let mut events = Events::default();
        let mut whole = Vec::new();
        while let Some(piece) = answer.next().await.map_err(|_| Over)? {
            if is_stream {
                let said = events.take(&piece, limits::API_ANSWER_BYTES_MAX).ok_or(Over)?;
                for said in said {
                    let end = message.and_then(|message| message.end_in(&said));
                    let is_called_off = end.as_ref().is_some_and(|end| end.get("error").is_none());
                    if is_called_off {
                        return Ok(Forwarded::NotTheEnd);
                    }
                    self.say(said).await?;
                    if end.is_some() {
                        return Ok(Forwarded::All);
                    }
                }
            } else {
                whole.extend_from_slice(&piece);
                if whole.len() > limits::API_ANSWER_BYTES_MAX {
                    return Err(Over);
                }
            }
        }
        if is_stream && message.is_some_and(Message::is_listen) {
            return Ok(Forwarded::NotTheEnd);
        }
        match (serde_json::from_slice::<Value>(&whole), message.and_then(Message::id)) {
            (Ok(answer), _) if answer.get("jsonrpc").is_some() => {
                self.say(answer.to_string().into_bytes()).await?;
            }
            (answer, Some(id)) if !is_stream => {
                let error = refusal(status, answer.unwrap_or_default());
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": error });
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
                    if self.forward(None, stream).await.is_err() {
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

    fn post(&self, message: &Message) -> Result<ApiRequest, HttpError> {
        let mut request = ApiRequest::post(&self.remote.hub, "mcp")?.header("accept", BOTH);
        request = match message.version() {
            Some(version) => message.named(version, request.bearer(&self.bearer)),
            None => self.with_names(request),
        };
        Ok(request.bytes("application/json", message.text.clone()).timeout(SILENCE_MAX))
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

/// A refusal that came as HTTP has it, as JSON-RPC has it.
fn refusal(status: u16, mut answer: Value) -> Value {
    let error = answer.get_mut("error").map(Value::take).filter(Value::is_object);
    let Some(error) = error else {
        return json!({
            "code": -32603, "message": format!("the hub answered with status {status}"),
        });
    };
    let name = error.get("code").and_then(Value::as_str).unwrap_or_default();
    let code = ErrorCode::ALL.iter().find(|code| code.name() == name);
    let code = code.map_or(-32603, |code| code.json_rpc_code());
    json!({ "code": code, "message": error.get("message"), "data": error })
}

/// Whether a line is one that the hub takes.
fn is_short(line: &[u8]) -> bool {
    line.strip_suffix(b"\n").unwrap_or(line).len() <= limits::BODY_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

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
