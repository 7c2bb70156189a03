//! Following what a daemon receives, over HTTP or by the line.

use std::time::Duration;

use connector_api::toolkit::{ApiRequest, ApiStream, HttpError};
use connector_api::{Batch, ConnectorError, Result, Sink};
use protocol::Timestamp;
use protocol::chat::HeldFact;
use protocol::limits::chats as limits;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::endpoint::Endpoint;
use super::envelope::Translator;
use super::lines::{Line, LineParser, LineStream, unreachable};
use super::rpc::{Rpc, RpcFailure, refused_status};
use super::sse::{SseItem, SseParser};
use crate::foreign::Foreign;

/// The ids of our requests on a connection.
const SUBSCRIBE_ID: &str = "subscribe";
const ALIVE_ID: &str = "alive";
/// How much is read from a socket at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Something a daemon said.
enum Heard {
    /// It follows the account now.
    Following,
    /// It received something; the id says where to go on, if the daemon keeps what it sent.
    Received { what: Value, id: Option<String> },
}

/// A connection that hears what a daemon receives.
enum Feed {
    Http { stream: ApiStream, parser: SseParser },
    Lines { stream: LineStream, parser: LineParser, buffer: Vec<u8>, last: Option<Value> },
}

/// Follows an account until told to stop, or until the connection breaks.
pub(super) async fn follow(
    rpc: &Rpc,
    translator: &Translator,
    from: Option<String>,
    silence_max: Duration,
    sink: &dyn Sink,
    stop: &CancellationToken,
) -> Result<()> {
    let following = async {
        let mut feed = Feed::open(rpc, from, silence_max).await?;
        let mut watch = Watch { translator, sink, connected_at: None, held_at: None };
        if matches!(feed, Feed::Http { .. }) {
            watch.connected();
        }
        loop {
            let heard = feed.next(rpc).await?;
            watch.take(heard).await?;
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => Ok(()),
        ended = following => ended,
    }
}

/// Hands what was heard to the sink.
struct Watch<'a> {
    translator: &'a Translator,
    sink: &'a dyn Sink,
    connected_at: Option<Timestamp>,
    held_at: Option<Timestamp>,
}

impl Watch<'_> {
    fn connected(&mut self) {
        if self.connected_at.is_none() {
            let now = self.sink.now();
            self.connected_at = Some(now);
            self.held_at = Some(now);
            self.sink.connected();
        }
    }

    async fn take(&mut self, heard: Vec<Heard>) -> Result<()> {
        let mut batch = Batch::default();
        let mut events = 0_usize;
        for one in heard {
            match one {
                Heard::Following => self.connected(),
                Heard::Received { what, id } => {
                    self.translator.read(&what, &mut batch.facts);
                    batch.cursor = id.or(batch.cursor);
                    events = events.saturating_add(1);
                }
            }
            if events >= limits::SIGNAL_BATCH_EVENTS_MAX {
                events = 0;
                self.hand_in(std::mem::take(&mut batch)).await?;
            }
        }
        self.hand_in(batch).await
    }

    /// Hands a batch in. Signal hears everything while it is connected, so that stretch is whole;
    /// without news this is said now and then only.
    async fn hand_in(&mut self, mut batch: Batch) -> Result<()> {
        let now = self.sink.now();
        let is_news = !batch.facts.is_empty() || batch.cursor.is_some();
        let is_due =
            self.held_at.is_some_and(|at| now.ms_since(at) >= limits::SIGNAL_HELD_EVERY_MS);
        if !is_news && !is_due {
            return Ok(());
        }
        if self.connected_at.is_some() {
            self.held_at = Some(now);
            batch.facts.held.push(HeldFact { chat_id: None, from: self.connected_at, to: now });
        }
        self.sink.take(batch).await?;
        Ok(())
    }
}

impl Feed {
    async fn open(rpc: &Rpc, from: Option<String>, silence_max: Duration) -> Result<Self> {
        let Endpoint::Http(base) = &rpc.endpoint else {
            let mut stream = LineStream::open(&rpc.endpoint, silence_max).await?;
            stream.write(&rpc.request(SUBSCRIBE_ID, "subscribeReceive", Map::new())).await?;
            let parser = LineParser::new(limits::SIGNAL_EVENT_BYTES_MAX);
            return Ok(Self::Lines { stream, parser, buffer: vec![0; PIECE_BYTES], last: None });
        };
        let mut request = ApiRequest::get(base, "api/v1/events")?
            .header("accept", "text/event-stream")
            .timeout(silence_max);
        if !rpc.account.is_empty() {
            request = request.parameter("account", &rpc.account);
        }
        if let Some(id) = from {
            request = request.header("last-event-id", id);
        }
        let stream = rpc.http.open_stream(request).await.map_err(|error| match error {
            HttpError::Status(status) => refused_status(status),
            other => other.into(),
        })?;
        Ok(Self::Http { stream, parser: SseParser::default() })
    }

    /// What comes next; nothing where only a sign of life came.
    async fn next(&mut self, rpc: &Rpc) -> Result<Vec<Heard>> {
        match self {
            Self::Http { stream, parser } => {
                let piece = stream.next().await?;
                let piece = piece.ok_or_else(|| unreachable("the daemon ended the stream"))?;
                Ok(parser.push(&piece).into_iter().filter_map(heard_event).collect())
            }
            Self::Lines { stream, parser, buffer, last } => {
                let mut bytes = stream.read(buffer).await?;
                if bytes.is_none() {
                    // Nobody speaks. Whether the daemon still lives it says when asked.
                    stream.write(&rpc.request(ALIVE_ID, "version", Map::new())).await?;
                    bytes = stream.read(buffer).await?;
                }
                let bytes = bytes.ok_or(HttpError::Silent)?;
                let mut heard = Vec::new();
                for line in parser.push(buffer.get(..bytes).unwrap_or_default()) {
                    heard.extend(heard_line(line, last)?);
                }
                Ok(heard)
            }
        }
    }
}

fn heard_event(item: SseItem) -> Option<Heard> {
    let SseItem::Event { id, data } = item else {
        warn!("an event of signal-cli was too large and was passed over");
        return None;
    };
    let Ok(what) = serde_json::from_str(&data) else {
        warn!("an event of signal-cli is not JSON and was passed over");
        return None;
    };
    Some(Heard::Received { what, id })
}

/// Reads a line. A daemon that receives without being asked to says everything twice, once plainly
/// and once for our subscription; the second of two that are equal says nothing new.
fn heard_line(line: Line, last: &mut Option<Value>) -> Result<Option<Heard>> {
    let Line::Whole(line) = line else {
        warn!("a line of signal-cli was too large and was passed over");
        return Ok(None);
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(&line) else {
        warn!("a line of signal-cli is not JSON and was passed over");
        return Ok(None);
    };
    if value.text("id") == Some(SUBSCRIBE_ID) {
        return match value.object("error") {
            Some(error) => Err(ConnectorError::from(RpcFailure::read(error))),
            None => Ok(Some(Heard::Following)),
        };
    }
    if value.text("method") != Some("receive") {
        return Ok(None);
    }
    let params = value.get_mut("params").map(Value::take).unwrap_or_default();
    let what = params.object("result").cloned().unwrap_or(params);
    if last.as_ref() == Some(&what) {
        return Ok(None);
    }
    *last = Some(what.clone());
    Ok(Some(Heard::Received { what, id: None }))
}
