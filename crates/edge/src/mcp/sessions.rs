//! The sessions of the era of `initialize`: each belongs to one caller, and lives while it is used or
//! listened to.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use hub::identity::Follower;
use protocol::Caller;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::said::{EventId, Said};
use super::subscriptions::{Onlooker, Subscriptions};
use protocol::limits::mcp as limits;

/// A session that is called all the time is told so this often before it would be over.
const TOLD_TIMES: u32 = 16;

/// Who a session belongs to: a workspace and an agent, or nobody where nobody is asked who they are.
/// A new token of the same agent may go on with its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner(Option<(String, String)>);

impl Owner {
    fn new(caller: Option<&Caller>) -> Self {
        Self(caller.map(|caller| (caller.workspace_id.clone(), caller.agent_id.clone())))
    }

    fn is(&self, caller: Option<&Caller>) -> bool {
        let theirs = caller.map(|caller| (caller.workspace_id.as_str(), caller.agent_id.as_str()));
        theirs == self.0.as_ref().map(|(workspace, agent)| (workspace.as_str(), agent.as_str()))
    }
}

/// What of a session outlives its requests.
pub(super) struct Standing {
    follower: Arc<Follower>,
    subscriptions: OnceLock<Onlooker>,
}

impl Standing {
    /// Whoever subscribes in the session, and where that is written down.
    pub(super) fn subscriber(&self, subscriptions: &Subscriptions) -> Arc<Follower> {
        self.subscriptions.get_or_init(|| subscriptions.onlooker());
        Arc::clone(&self.follower)
    }
}

/// Every session.
pub(super) struct Sessions {
    local: LocalSessionManager,
    owners: Mutex<Owners>,
    /// What takes in the answers to requests; all of it ends when the hub stops.
    answering: TaskTracker,
    idle: Duration,
    stop: CancellationToken,
}

#[derive(Default)]
struct Owners {
    begun: u64,
    by_session: HashMap<SessionId, Owned>,
}

struct Owned {
    owner: Owner,
    /// Its number among all that were begun.
    begun: u64,
    /// When it was last told that it is used.
    told: Instant,
    standing: Option<Arc<Standing>>,
    /// What was said to its newest requests, by their numbers.
    said: VecDeque<(u64, Arc<Said>)>,
}

impl Sessions {
    /// No session yet. A session that nobody used or listened to for `idle` is over.
    pub(super) fn new(idle: Duration, stop: CancellationToken) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Self { local, owners: Mutex::default(), answering: TaskTracker::new(), idle, stop }
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session is somebody else's.
    pub(super) fn is_foreign(&self, id: &str, caller: Option<&Caller>) -> bool {
        self.owners().by_session.get(id).is_some_and(|owned| !owned.owner.is(caller))
    }

    /// A request of a session came with this token: what the session subscribes to goes on with it.
    pub(super) fn renew(&self, id: &str, caller: &Arc<Caller>) -> Option<Arc<Standing>> {
        let standing = self.owners().by_session.get(id)?.standing.clone()?;
        standing.follower.renew(Arc::clone(caller));
        Some(standing)
    }

    /// A session was begun by this caller.
    pub(super) async fn bind(&self, id: &str, shared: Option<&Arc<Caller>>) {
        let caller = shared.map(Arc::as_ref);
        let surplus = {
            let mut owners = self.owners();
            owners.begun += 1;
            let begun = owners.begun;
            let mut theirs: Vec<(u64, SessionId)> = owners
                .by_session
                .iter()
                .filter(|(_, owned)| owned.owner.is(caller))
                .map(|(id, owned)| (owned.begun, Arc::clone(id)))
                .collect();
            let (owner, said) = (Owner::new(caller), VecDeque::new());
            let follower = shared.map(|caller| Arc::new(Follower::new(Arc::clone(caller))));
            let standing = follower
                .map(|follower| Arc::new(Standing { follower, subscriptions: OnceLock::new() }));
            let owned = Owned { owner, begun, told: Instant::now(), standing, said };
            owners.by_session.insert(id.into(), owned);
            theirs.sort_unstable();
            let surplus = (theirs.len() + 1).saturating_sub(limits::SESSIONS_PER_CALLER_MAX);
            theirs.truncate(surplus);
            theirs
        };
        for (_, id) in surplus {
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "a surplus session could not be closed");
            }
        }
    }

    /// Whether there is such a session; it counts as used by the question.
    pub(super) async fn is_used(&self, id: &str) -> bool {
        let is_due = match self.owners().by_session.get_mut(id) {
            Some(owned) if owned.told.elapsed() < self.idle / TOLD_TIMES => false,
            Some(owned) => {
                owned.told = Instant::now();
                true
            }
            None => return false,
        };
        let handle = match self.local.sessions.read().await.get(id) {
            Some(handle) if is_due => handle.clone(),
            found => return found.is_some(),
        };
        is_alive(&handle).await
    }

    /// Ends the stream on which a session has been told things so far: a client has one, and asks for the
    /// next when it knows that the one before is dead. rmcp would go on to tell that one alone.
    async fn supersede(&self, id: &str) {
        let handle = self.local.sessions.read().await.get(id).cloned();
        if let Some(handle) = handle
            && let Err(error) = handle.close_standalone_sse_stream(None).await
        {
            tracing::debug!(%error, "the session is over");
        }
    }

    /// An update of everything a session subscribes to: what a broken stream said last is lost, and more of
    /// it than rmcp keeps.
    fn updates(&self, id: &str) -> impl Stream<Item = ServerSseMessage> + use<> {
        let standing = self.owners().by_session.get(id).and_then(|owned| owned.standing.clone());
        let onlooker = standing.as_ref().and_then(|standing| standing.subscriptions.get());
        let updates = onlooker.map(Onlooker::updates).unwrap_or_default();
        futures_util::stream::iter(updates.into_iter().map(|update| {
            ServerSseMessage::from_message(ServerJsonRpcMessage::notification(update))
        }))
    }

    /// Keeps what is said on the stream of a request, which begins with the event that names it.
    async fn said(&self, id: &str, mut events: Events) -> Events {
        let Some(first) = events.next().await else { return events };
        let request = first.event_id.as_deref().and_then(EventId::parse).map(|event| event.request);
        let events = futures_util::stream::iter([first]).chain(events);
        let said = Arc::<Said>::default();
        match (request, self.owners().by_session.get_mut(id)) {
            (Some(request), Some(owned)) => {
                if owned.said.len() >= limits::ANSWERS_KEPT_MAX {
                    owned.said.pop_front();
                }
                owned.said.push_back((request, Arc::clone(&said)));
            }
            _ => return Box::pin(events),
        }
        self.answering.spawn(Arc::clone(&said).take_in(events, self.stop.clone()));
        Box::pin(said.from(0))
    }

    /// What was said on the stream of a request after an event of it.
    fn said_after(&self, id: &str, event: &EventId) -> Option<Events> {
        let owners = self.owners();
        let mut said = owners.by_session.get(id)?.said.iter();
        let (_, said) = said.find(|(request, _)| *request == event.request)?;
        Some(Box::pin(Arc::clone(said).from(event.next())))
    }

    /// A stream that keeps its session alive while somebody reads it, and ends when the hub stops.
    async fn kept(
        &self,
        id: &SessionId,
        inner: Events,
    ) -> impl Stream<Item = ServerSseMessage> + use<> {
        let handle = self.local.sessions.read().await.get(id).cloned();
        let mut ticks = tokio::time::interval(self.idle / 3);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let kept = Kept { inner, handle, ticks, stop: self.stop.clone() };
        futures_util::stream::unfold(kept, Kept::next)
    }
}

type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

struct Kept {
    inner: Events,
    handle: Option<LocalSessionHandle>,
    ticks: Interval,
    stop: CancellationToken,
}

impl Kept {
    async fn next(mut self) -> Option<(ServerSseMessage, Self)> {
        loop {
            tokio::select! {
                biased;
                message = self.inner.next() => return message.map(|message| (message, self)),
                () = self.stop.cancelled() => return None,
                _ = self.ticks.tick() => {}
            }
            match &self.handle {
                Some(handle) if is_alive(handle).await => {}
                _ => return None,
            }
        }
    }
}

/// Asks a session something, because it counts as used by what it is asked. Closing a channel that does
/// not exist is the one thing to ask that does nothing.
async fn is_alive(session: &LocalSessionHandle) -> bool {
    session.close_request_wise_channel(u64::MAX).await.is_ok()
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.local.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.owners().by_session.remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.local.create_stream(id, message).await?;
        Ok(self.said(id, Box::pin(events)).await)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.supersede(id).await;
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(self.kept(id, Box::pin(self.updates(id).chain(stream))).await)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // On the stream of a request, ids of events name the request as well.
        let event = EventId::parse(&last_event_id);
        if let Some(said) = event.and_then(|event| self.said_after(id, &event)) {
            return Ok(self.kept(id, said).await);
        }
        if last_event_id.bytes().all(|byte| byte.is_ascii_digit()) {
            self.supersede(id).await;
            let stream = self.local.resume(id, last_event_id).await?;
            return Ok(self.kept(id, Box::pin(self.updates(id).chain(stream))).await);
        }
        let stream = self.local.resume(id, last_event_id).await?;
        Ok(self.kept(id, Box::pin(stream)).await)
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.local.restore_session(id).await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::ServerHandler;
    use rmcp::service::serve_server;
    use tokio::task::JoinSet;

    use super::*;

    struct Nothing;

    impl ServerHandler for Nothing {}

    const HOUR: Duration = Duration::from_hours(1);

    /// Begins a session, and answers its id and what serves it.
    async fn begun(sessions: &Sessions) -> (SessionId, JoinSet<()>) {
        let (id, transport) = sessions.create_session().await.unwrap();
        let mut served = JoinSet::new();
        served.spawn(async move {
            serve_server(Nothing, transport).await.unwrap().waiting().await.unwrap();
        });
        let initialize = serde_json::from_value(serde_json::json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "0" },
            },
        }));
        sessions.initialize_session(&id, initialize.unwrap()).await.unwrap();
        sessions.bind(&id, None).await;
        (id, served)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_lives_while_somebody_listens_and_no_longer() {
        let sessions = Sessions::new(HOUR / 2, CancellationToken::new());
        let (id, mut served) = begun(&sessions).await;

        let mut events = Box::pin(sessions.create_standalone_stream(&id).await.unwrap());
        let listening = tokio::time::timeout(5 * HOUR, events.next()).await;
        assert!(listening.is_err(), "the stream stays open");
        assert!(served.try_join_next().is_none(), "the session lives");
        drop(events);
        tokio::time::timeout(HOUR, served.join_next()).await.expect("the session ends");
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_lives_while_it_is_called_and_no_longer() {
        let sessions = Sessions::new(HOUR / 2, CancellationToken::new());
        let (id, mut served) = begun(&sessions).await;
        for _ in 0..100 {
            tokio::time::sleep(HOUR / 20).await;
            assert!(sessions.is_used(&id).await);
        }
        assert!(served.try_join_next().is_none(), "the session lives");
        tokio::time::timeout(HOUR, served.join_next()).await.expect("the session ends");
        assert!(!sessions.is_used(&id).await);
        assert!(!sessions.is_used("another").await);
    }
}
