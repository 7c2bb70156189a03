//! A service whose every answer a test decides, and its connector.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Arrived, Batch, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind,
    FactsPage, Field, HookReply, HookRequest, LinkSettings, Outbound, Result, Sent, Sink,
    sent_facts,
};
use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::chat::{ChatFact, Facts, HeldFact, MessageFact, PersonFact};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What happens next on the stream.
pub(crate) enum Event {
    /// The service reports something; the answer says whether it was taken.
    Batch(Box<Batch>, oneshot::Sender<bool>),
    /// The stream breaks.
    Break(ConnectorError),
}

/// What the service does with a message that is sent to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// It takes it, and its answer is lost.
    TakeAndBreakOff,
    /// It cannot be reached.
    Away,
    /// It asks for patience, for so many seconds.
    Limit(u64),
    /// It says no.
    Refuse,
}

/// The service, as a test sees it.
pub(crate) struct Service {
    pub(crate) capabilities: Mutex<Capabilities>,
    /// Answers to the next questions whether the credentials work; then they do.
    pub(crate) checks: Mutex<VecDeque<ConnectorError>>,
    /// When it was asked.
    pub(crate) checked_at: Mutex<Vec<Instant>>,
    /// Where each stream began.
    pub(crate) streams_from: Mutex<Vec<Option<String>>>,
    /// The tokens of the clients that were made.
    pub(crate) tokens: Mutex<Vec<String>>,
    events: tokio::sync::Mutex<mpsc::Receiver<Event>>,
    happen: mpsc::Sender<Event>,
    /// What was said in each chat, the oldest first.
    pub(crate) said: Mutex<BTreeMap<String, Vec<MessageFact>>>,
    /// Errors that the next requests for history get.
    pub(crate) history_fails: Mutex<VecDeque<ConnectorError>>,
    /// Requests for history: the chat and where from, and when.
    pub(crate) history_asked: Mutex<Vec<(String, Option<String>, Instant)>>,
    /// Requests for history that are answered; the others wait for ever.
    pub(crate) history_allowed: AtomicI64,
    pub(crate) page_size: usize,
    now_ms: AtomicI64,
    /// What it does with the next messages; then it takes them.
    pub(crate) reactions: Mutex<VecDeque<Reaction>>,
    /// The messages that it has taken.
    pub(crate) taken: Mutex<Vec<Outbound>>,
    /// How often somebody tried.
    pub(crate) tries: AtomicI64,
}

impl Service {
    /// A service that streams, and gives neither a list of chats nor their past.
    pub(crate) fn streaming() -> Arc<Self> {
        Self::that_can(Capabilities { stream: true, ..Capabilities::default() })
    }

    /// A service that streams and takes messages.
    pub(crate) fn sending() -> Arc<Self> {
        Self::that_can(Capabilities { stream: true, send: true, ..Capabilities::default() })
    }

    /// A service that also lists its chats and gives their past.
    pub(crate) fn with_history() -> Arc<Self> {
        let can = Capabilities {
            stream: true,
            chat_list: true,
            history: true,
            ..Capabilities::default()
        };
        Self::that_can(can)
    }

    pub(crate) fn that_can(capabilities: Capabilities) -> Arc<Self> {
        let (happen, events) = mpsc::channel(16);
        Arc::new(Self {
            capabilities: Mutex::new(capabilities),
            checks: Mutex::default(),
            checked_at: Mutex::default(),
            streams_from: Mutex::default(),
            tokens: Mutex::default(),
            events: tokio::sync::Mutex::new(events),
            happen,
            said: Mutex::default(),
            history_fails: Mutex::default(),
            history_asked: Mutex::default(),
            history_allowed: AtomicI64::new(i64::MAX),
            page_size: 3,
            now_ms: AtomicI64::new(1_771_329_600_000),
            reactions: Mutex::default(),
            taken: Mutex::default(),
            tries: AtomicI64::new(0),
        })
    }

    /// The table of services with this one alone.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind: &'static Kind = Box::leak(Box::new(Kind(Arc::clone(self))));
        Box::leak(Box::new([kind as &dyn ConnectorKind]))
    }

    /// The stream reports facts; answers whether they were taken.
    pub(crate) async fn report(&self, facts: Facts, cursor: Option<&str>) -> bool {
        let (answer, taken) = oneshot::channel();
        let batch = Batch { facts, cursor: cursor.map(str::to_owned), ..Batch::default() };
        self.happen.send(Event::Batch(Box::new(batch), answer)).await.unwrap();
        taken.await.unwrap_or(false)
    }

    /// The service says by itself that a message of ours arrived.
    pub(crate) async fn report_arrived(&self, mark: &str, message_id: &str) -> bool {
        let (answer, taken) = oneshot::channel();
        let at = self.now();
        let arrived = vec![Arrived { mark: mark.to_owned(), remote_id: message_id.to_owned(), at }];
        let batch = Batch { arrived, ..Batch::default() };
        self.happen.send(Event::Batch(Box::new(batch), answer)).await.unwrap();
        taken.await.unwrap_or(false)
    }

    /// The stream breaks.
    pub(crate) async fn break_off(&self, error: ConnectorError) {
        self.happen.send(Event::Break(error)).await.unwrap();
    }

    /// Somebody says something, which history knows from now on.
    pub(crate) fn say(&self, message: MessageFact) {
        let at = message.sent_at.as_ms() + 1;
        self.now_ms.fetch_max(at, Ordering::SeqCst);
        self.said.lock().entry(message.chat_id.clone()).or_default().push(message);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }

    fn page(&self, chat_id: &str, from: Option<&str>) -> FactsPage {
        let said = self.said.lock();
        let all = said.get(chat_id).map(Vec::as_slice).unwrap_or_default();
        // A cursor says how many messages are older, and until when the first page told everything.
        let (end, until) = match from.and_then(|from| from.split_once('@')) {
            Some((end, until)) => {
                (end.parse().unwrap(), Timestamp::from_ms(until.parse().unwrap()))
            }
            None => (all.len(), self.now()),
        };
        let start = end.saturating_sub(self.page_size);
        let messages = all[start..end].to_vec();
        let oldest = (start > 0).then(|| messages[0].sent_at);
        let held = HeldFact { chat_id: Some(chat_id.to_owned()), from: oldest, to: until };
        let next = (start > 0).then(|| format!("{start}@{}", until.as_ms()));
        FactsPage { facts: Facts { messages, held: vec![held], ..Facts::default() }, next }
    }
}

struct Kind(Arc<Service>);

const FIELDS: &[Field] = &[
    Field {
        name: "token",
        prompt: "The token",
        help: "Ask the test for it.",
        default: None,
        is_secret: true,
    },
    Field {
        name: "base_url",
        prompt: "The address",
        help: "Leave it.",
        default: Some("https://api.example.org"),
        is_secret: false,
    },
];

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "scripted"
    }

    fn title(&self) -> &'static str {
        "Scripted"
    }

    fn guide(&self) -> &'static str {
        "Ask the test."
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        let token = settings.secret("token").to_owned();
        if token.contains(' ') {
            let reason = "must have no spaces".to_owned();
            return Err(ConnectorError::Setting { field: "token".to_owned(), reason });
        }
        self.0.tokens.lock().push(token.clone());
        Ok(Arc::new(Client { service: Arc::clone(&self.0), token }))
    }
}

struct Client {
    service: Arc<Service>,
    token: String,
}

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        *self.service.capabilities.lock()
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(async {
            self.service.checked_at.lock().push(Instant::now());
            if let Some(error) = self.service.checks.lock().pop_front() {
                return Err(error);
            }
            // Each token is one account's, whatever follows the sign.
            let name = self.token.split('#').next().unwrap_or_default();
            Ok(Account {
                name: format!("@of-{}", name.len()),
                id: "1".to_owned(),
                notes: vec!["it hears everything".to_owned()],
            })
        })
    }

    fn stream<'a>(
        &'a self,
        from: Option<String>,
        sink: &'a dyn Sink,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut events = self.service.events.lock().await;
            self.service.streams_from.lock().push(from);
            sink.connected();
            loop {
                let event = tokio::select! {
                    event = events.recv() => event,
                    () = stop.cancelled() => return Ok(()),
                };
                match event {
                    Some(Event::Batch(batch, answer)) => {
                        let taken = sink.take(*batch).await;
                        answer.send(taken.is_ok()).ok();
                        taken?;
                    }
                    Some(Event::Break(error)) => return Err(error),
                    None => return Ok(()),
                }
            }
        })
    }

    fn chats(&self, _: Option<String>) -> BoxFuture<'_, Result<FactsPage>> {
        Box::pin(async {
            let said = self.service.said.lock();
            let chat = |id: &String| ChatFact { chat_id: id.clone(), ..ChatFact::default() };
            let chats = said.keys().map(chat).collect();
            Ok(FactsPage { facts: Facts { chats, ..Facts::default() }, next: None })
        })
    }

    fn history<'a>(
        &'a self,
        chat_id: &'a str,
        from: Option<String>,
    ) -> BoxFuture<'a, Result<FactsPage>> {
        Box::pin(async move {
            let service = &self.service;
            service.history_asked.lock().push((chat_id.to_owned(), from.clone(), Instant::now()));
            if service.history_allowed.fetch_sub(1, Ordering::SeqCst) <= 0 {
                return std::future::pending().await;
            }
            if let Some(error) = service.history_fails.lock().pop_front() {
                return Err(error);
            }
            Ok(service.page(chat_id, from.as_deref()))
        })
    }

    fn send<'a>(&'a self, message: &'a Outbound) -> BoxFuture<'a, Result<Sent>> {
        Box::pin(async move {
            let service = &self.service;
            service.tries.fetch_add(1, Ordering::SeqCst);
            let reaction = service.reactions.lock().pop_front();
            match reaction {
                Some(Reaction::Away) => {
                    return Err(ConnectorError::NotReached { reason: "no route".to_owned() });
                }
                Some(Reaction::Limit(seconds)) => {
                    let retry_after = std::time::Duration::from_secs(seconds);
                    return Err(ConnectorError::RateLimited { retry_after });
                }
                Some(Reaction::Refuse) => {
                    return Err(ConnectorError::Refused { reason: "they left".to_owned() });
                }
                Some(Reaction::TakeAndBreakOff) | None => {}
            }
            let mut taken = service.taken.lock();
            taken.push(message.clone());
            if reaction.is_some() {
                return Err(ConnectorError::Unreachable { reason: "it broke off".to_owned() });
            }
            let message_id = format!("sent{}", taken.len());
            let own = PersonFact {
                person_id: "me".to_owned(),
                name: Some("Me".to_owned()),
                is_self: true,
                ..PersonFact::default()
            };
            let at = service.now();
            let facts = sent_facts(message, &message_id, at, own);
            Ok(Sent { message_id, at, facts })
        })
    }

    fn chat_units_max(&self) -> Option<usize> {
        self.service.capabilities.lock().send.then_some(40)
    }

    fn receive(&self, request: &HookRequest, _: Timestamp) -> Result<HookReply> {
        if let Some(challenge) = request.parameter("challenge") {
            let answer = challenge.into();
            return Ok(HookReply { answer, ..HookReply::default() });
        }
        if request.header("x-signature") != Some(self.token.as_str()) {
            return Err(ConnectorError::BadSignature);
        }
        let facts = serde_json::from_slice(&request.body)
            .map_err(|_| ConnectorError::Protocol { reason: "expected facts".to_owned() })?;
        Ok(HookReply { batch: Batch::of(facts), answer: "taken".into() })
    }
}
