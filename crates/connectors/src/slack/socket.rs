//! Socket Mode: events as they happen, over sockets the hub opens, so it needs no public address.
//!
//! An event is acknowledged after it is committed. What is not acknowledged comes again, and what
//! comes again is known by its id. Slack replaces a socket every few hours: the new one is opened
//! while the old one is still read, so nothing falls between them.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use connector_api::toolkit::{HttpError, WebSocket};
use connector_api::{Batch, BoxFuture, ConnectorError, HookAnswer, Result, Sink};
use parking_lot::{Mutex, RwLock};
use protocol::Timestamp;
use protocol::chat::{Facts, HeldFact};
use protocol::limits::slack as limits;
use serde_json::{Value, json};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::api::{Api, Failure};
use super::json::{is, text};
use super::names::Names;
use super::{event, event_relay, map_command, receive};

/// What a link remembers of its streams while the hub runs.
#[derive(Debug, Default)]
pub(super) struct Live {
    up_since: Mutex<Option<Timestamp>>,
    taken: Mutex<Taken>,
}

impl Live {
    /// Since when nothing has been missed, while a stream is up.
    pub(super) fn up_since(&self) -> Option<Timestamp> {
        *self.up_since.lock()
    }
}

/// The ids of events that were committed, the latest of them.
#[derive(Debug, Default)]
struct Taken {
    known: HashSet<String>,
    order: VecDeque<String>,
}

impl Taken {
    fn insert(&mut self, event_id: &str) {
        if !self.known.insert(event_id.to_owned()) {
            return;
        }
        self.order.push_back(event_id.to_owned());
        if self.order.len() > limits::EVENTS_KNOWN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// Follows events until `stop` or an error.
pub(super) async fn follow(
    api: &Api,
    names: &RwLock<Names>,
    live: &Live,
    sink: &dyn Sink,
    stop: &CancellationToken,
) -> Result<()> {
    let opened = tokio::select! {
        opened = open(api) => opened?,
        () = stop.cancelled() => return Ok(()),
    };
    let now = sink.now();
    *live.up_since.lock() = Some(now);
    sink.connected();
    let every = Duration::from_millis(limits::HELD_EVERY_MS.unsigned_abs());
    let mut ticks = interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stream = Stream {
        api,
        names,
        live,
        sink,
        sockets: Sockets { current: opened, leaving: None, opening: None, ticks },
        up_since: now,
        reported_to: now,
    };
    let ended = stream.run(stop).await;
    *live.up_since.lock() = None;
    if ended.is_ok() {
        stream.sockets.close().await;
    }
    ended
}

/// Opens a socket and waits until it is up.
async fn open(api: &Api) -> Result<WebSocket> {
    let answer = api.call_as_app("apps.connections.open").await.map_err(Failure::plain)?;
    let unexpected = |what: &str| ConnectorError::Protocol { reason: format!("expected {what}") };
    let address =
        text(&answer.value, "url").ok_or_else(|| unexpected("the address of a socket"))?;
    let mut socket = api.http().open_websocket(&api.base().named(address)?).await?;
    let hello = async {
        while let Some(frame) = socket.next().await? {
            let frame: Value = serde_json::from_str(&frame).unwrap_or_default();
            if text(&frame, "type") == Some("hello") {
                return Ok(());
            }
        }
        Err(ConnectorError::from(HttpError::Broken("the other side hung up")))
    };
    timeout(limits::HELLO_TIMEOUT, hello).await.map_err(|_| HttpError::Silent)??;
    Ok(socket)
}

/// Which socket a frame came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Current,
    Leaving,
}

/// What a stream waits for.
enum Came {
    Stop,
    Opened(Result<WebSocket>),
    Frame(Which, std::result::Result<Option<String>, HttpError>),
    LeftLongEnough,
    Tick,
}

/// The sockets of a stream: one, or two while one replaces the other.
struct Sockets<'a> {
    current: WebSocket,
    leaving: Option<(WebSocket, Instant)>,
    opening: Option<BoxFuture<'a, Result<WebSocket>>>,
    ticks: Interval,
}

impl Sockets<'_> {
    async fn next(&mut self, stop: &CancellationToken) -> Came {
        let Self { current, leaving, opening, ticks } = self;
        let (old, deadline) = match leaving {
            Some((socket, deadline)) => (Some(socket), Some(*deadline)),
            None => (None, None),
        };
        tokio::select! {
            () = stop.cancelled() => Came::Stop,
            opened = ready(opening.as_mut()) => Came::Opened(opened),
            frame = frame(old) => Came::Frame(Which::Leaving, frame),
            frame = frame(Some(current)) => Came::Frame(Which::Current, frame),
            () = reached(deadline) => Came::LeftLongEnough,
            _ = ticks.tick() => Came::Tick,
        }
    }

    fn get(&mut self, which: Which) -> Option<&mut WebSocket> {
        match which {
            Which::Current => Some(&mut self.current),
            Which::Leaving => self.leaving.as_mut().map(|(socket, _)| socket),
        }
    }

    async fn close(self) {
        self.current.close().await;
        if let Some((socket, _)) = self.leaving {
            socket.close().await;
        }
    }
}

async fn ready(opening: Option<&mut BoxFuture<'_, Result<WebSocket>>>) -> Result<WebSocket> {
    match opening {
        Some(opening) => opening.await,
        None => std::future::pending().await,
    }
}

async fn frame(socket: Option<&mut WebSocket>) -> std::result::Result<Option<String>, HttpError> {
    match socket {
        Some(socket) => socket.next().await,
        None => std::future::pending().await,
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// One run of a stream.
struct Stream<'a> {
    api: &'a Api,
    names: &'a RwLock<Names>,
    live: &'a Live,
    sink: &'a dyn Sink,
    sockets: Sockets<'a>,
    /// Since when nothing was missed.
    up_since: Timestamp,
    /// Up to when that was reported.
    reported_to: Timestamp,
}

impl Stream<'_> {
    async fn run(&mut self, stop: &CancellationToken) -> Result<()> {
        loop {
            match self.sockets.next(stop).await {
                Came::Stop => return Ok(()),
                Came::Opened(opened) => {
                    self.sockets.opening = None;
                    let old = std::mem::replace(&mut self.sockets.current, opened?);
                    self.sockets.leaving = Some((old, Instant::now() + limits::LEAVING_TIMEOUT));
                    tracing::debug!("a new socket took over");
                }
                Came::Frame(which, Ok(Some(text))) => self.take_frame(which, &text).await?,
                Came::Frame(Which::Leaving, _) => self.sockets.leaving = None,
                Came::Frame(Which::Current, Ok(None)) => {
                    return Err(HttpError::Broken("the other side hung up").into());
                }
                Came::Frame(Which::Current, Err(error)) => return Err(error.into()),
                Came::LeftLongEnough => {
                    if let Some((socket, _)) = self.sockets.leaving.take() {
                        socket.close().await;
                    }
                }
                Came::Tick => self.report().await?,
            }
        }
    }

    async fn take_frame(&mut self, which: Which, frame: &str) -> Result<()> {
        let Ok(frame) = serde_json::from_str::<Value>(frame) else {
            tracing::warn!("a frame that is no JSON");
            return Ok(());
        };
        let payload = frame.get("payload").unwrap_or(&Value::Null);
        let answer = match text(&frame, "type").unwrap_or_default() {
            "disconnect" => return self.take_leave(which, &frame),
            "events_api" => {
                self.take_event(payload).await?;
                HookAnswer::default()
            }
            "slash_commands" => self.take_command(payload).await?,
            "interactive" => self.take_interaction(payload).await?,
            _ => HookAnswer::default(),
        };
        let Some(envelope_id) = text(&frame, "envelope_id") else { return Ok(()) };
        let acknowledgement = match answer {
            HookAnswer::Json(answer) if is(&frame, "accepts_response_payload") => {
                json!({ "envelope_id": envelope_id, "payload": answer })
            }
            _ => json!({ "envelope_id": envelope_id }),
        };
        self.acknowledge(which, acknowledgement.to_string()).await
    }

    /// Somebody gave a command. What they see at once is what they would see if Slack had called.
    async fn take_command(&mut self, payload: &Value) -> Result<HookAnswer> {
        let inbound = map_command::inbound(payload, &self.names.read(), self.sink.now());
        let Some(inbound) = inbound else { return Ok(HookAnswer::default()) };
        self.sink.take(Batch { inbound: vec![inbound], ..Batch::default() }).await?;
        Ok(map_command::taken())
    }

    /// Somebody used a proposal's buttons or its editor; what the hub says to that goes back with the
    /// acknowledgement.
    async fn take_interaction(&mut self, payload: &Value) -> Result<HookAnswer> {
        let batch = receive::interaction(payload);
        if batch.interaction.is_none() {
            return Ok(HookAnswer::default());
        }
        Ok(self.sink.take(batch).await?)
    }

    /// The socket will be closed, or was announced to be.
    fn take_leave(&mut self, which: Which, frame: &Value) -> Result<()> {
        if text(frame, "reason") == Some("link_disabled") {
            return Err(ConnectorError::Unauthorized {
                reason: "Socket Mode is turned off; turn it on at the app's page".to_owned(),
            });
        }
        if which == Which::Current && self.sockets.opening.is_none() {
            self.sockets.opening = Some(Box::pin(open(self.api)));
        }
        Ok(())
    }

    async fn take_event(&mut self, payload: &Value) -> Result<()> {
        let event_id = text(payload, "event_id");
        if event_id.is_some_and(|id| self.live.taken.lock().known.contains(id)) {
            return Ok(());
        }
        let (mut facts, inbound) = {
            let names = self.names.read();
            let facts = event::facts(payload, &names);
            let inbound = event_relay::inbound(payload, &facts, &names);
            (facts, inbound)
        };
        if !facts.is_empty() || inbound.is_some() {
            self.names.write().learn(&facts);
            let now = self.sink.now();
            facts.held.extend(self.held(now, Duration::ZERO, limits::DELIVERY_LAG_MS));
            let inbound = inbound.into_iter().collect();
            self.commit(Batch { facts, inbound, ..Batch::default() }).await?;
        }
        if let Some(event_id) = event_id {
            self.live.taken.lock().insert(event_id);
        }
        if event::is_own_arrival(payload) {
            // Of the time before, nothing was told about this chat.
            self.up_since = self.sink.now();
            *self.live.up_since.lock() = Some(self.up_since);
        }
        Ok(())
    }

    /// Reports that nothing is missing, though nothing happened.
    async fn report(&mut self) -> Result<()> {
        let silence = self.sockets.current.silence();
        match self.held(self.sink.now(), silence, 0) {
            Some(held) => {
                self.commit(Batch::of(Facts { held: vec![held], ..Facts::default() })).await
            }
            None => Ok(()),
        }
    }

    /// The stretch that is whole, if it grew by more than `grown_ms`. What was under way when the
    /// other side was last heard may still come.
    fn held(&self, now: Timestamp, silence: Duration, grown_ms: i64) -> Option<HeldFact> {
        let silence_ms = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
        let lag_ms = limits::DELIVERY_LAG_MS.saturating_add(silence_ms);
        let to = now.plus_ms(lag_ms.saturating_neg());
        let since = self.reported_to.max(self.up_since);
        (to.ms_since(since) > grown_ms).then_some(HeldFact {
            chat_id: None,
            from: Some(self.up_since),
            to,
        })
    }

    async fn commit(&mut self, batch: Batch) -> Result<()> {
        let to = batch.facts.held.last().map(|held| held.to);
        self.sink.take(batch).await?;
        self.reported_to = to.unwrap_or(self.reported_to);
        Ok(())
    }

    async fn acknowledge(&mut self, which: Which, acknowledgement: String) -> Result<()> {
        let Some(socket) = self.sockets.get(which) else { return Ok(()) };
        let sent = socket.send(acknowledgement).await;
        match (sent, which) {
            (Ok(()), _) => Ok(()),
            // Slack delivers it again on the new socket, where it is known.
            (Err(_), Which::Leaving) => {
                self.sockets.leaving = None;
                Ok(())
            }
            (Err(error), Which::Current) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_remembered_up_to_a_limit() {
        let mut taken = Taken::default();
        for number in 0..=limits::EVENTS_KNOWN_MAX {
            taken.insert(&format!("Ev{number}"));
        }
        taken.insert("Ev7");
        assert!(!taken.known.contains("Ev0"));
        assert!(taken.known.contains("Ev7"));
        assert_eq!(taken.known.len(), limits::EVENTS_KNOWN_MAX);
    }
}
