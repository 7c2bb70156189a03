//! The hub itself: the store, time, randomness, live readers and quotas behind every operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize};

use connector_api::model::SharedModel;
use connector_api::session::SharedKeeper;
use protocol::id::{RequestId, Uid};
use protocol::{Caller, Timestamp, limits};
use store::{ContainmentIndex, MemoryIndex, SearchIndex, Store, StoreError};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::audit::{Commitment, EntryQueue, SealKey, Sealer};
use crate::call::{Call, Identity, Trace};
use crate::clock::{Clock, Entropy, fresh_uid};
use crate::duties::{self, Duties};
use crate::identity::{KeyRing, Revocations};
use crate::links::{Intake, LinkParts, Links};
use crate::live::Live;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::quota::{Quotas, Rate};
use crate::relay::RelaySettings;
use crate::relay::approvals::Approvals;
use crate::relay::context::Sessions;
use crate::relay::outbox::Outbox;
use crate::relay::tools::Tools;
use crate::waiters::Waiters;
use crate::wakes::request::Means;
use crate::wakes::{WakeSettings, Wakes};

/// What an operator may choose about the hub's behaviour.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Posts an agent may make.
    pub posts: Rate,
    /// Other calls an agent may make.
    pub calls: Rate,
    /// Changes of speaker between agents without a human before a thread is paused; 0 for never.
    pub agent_turns_max: i64,
    /// A session not heard of for so long is offline.
    pub session_fresh_ms: i64,
    /// How long an idempotency key is remembered; `None` for as long as its thread.
    pub idempotency_window_ms: Option<i64>,
    /// The zone of times that callers give without one.
    pub zone: jiff::tz::TimeZone,
    /// How agents are woken.
    pub wake: WakeSettings,
    /// Webhooks in, work for agents, answers out.
    pub relay: RelaySettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            posts: Rate { per_second: limits::POSTS_PER_SECOND, burst: limits::POSTS_BURST },
            calls: Rate { per_second: limits::CALLS_PER_SECOND, burst: limits::CALLS_BURST },
            agent_turns_max: limits::AGENT_TURNS_MAX,
            session_fresh_ms: limits::SESSION_FRESH_MS,
            idempotency_window_ms: None,
            zone: jiff::tz::TimeZone::UTC,
            wake: WakeSettings::default(),
            relay: RelaySettings::default(),
        }
    }
}

/// What a hub is made of.
pub struct Parts {
    /// Its memory.
    pub store: Store,
    /// What its operator chose.
    pub settings: Settings,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where randomness comes from.
    pub entropy: Arc<dyn Entropy>,
    /// The keys that sign the tokens it issues.
    pub keys: Arc<KeyRing>,
    /// Tokens that are refused before their time.
    pub revocations: Arc<Revocations>,
    /// The key that seals the audit trail.
    pub seal_key: SealKey,
    /// The search index.
    pub search: SearchIndex,
    /// The index of what chats contain.
    pub containment: ContainmentIndex,
    /// The view of what is remembered and of documents.
    pub memory: MemoryIndex,
    /// What links are made of.
    pub links: LinkParts,
    /// The model that writes and embeds, where one is configured.
    pub model: Option<SharedModel>,
    /// Where session layers are kept, if not in the store.
    pub keeper: Option<SharedKeeper>,
}

/// The hub itself.
pub struct Hub {
    /// Its memory.
    pub store: Store,
    /// Who waits for what.
    pub live: Arc<Live>,
    /// What can be found in threads.
    pub search: SearchIndex,
    /// What can be found in chats.
    pub containment: ContainmentIndex,
    /// Its links, and how each is doing.
    pub links: Links,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// What its operator chose.
    pub settings: Settings,
    /// Ends when the hub is about to stop: long polls return what they have.
    pub stopping: CancellationToken,
    /// The keys that sign the tokens it issues.
    pub keys: Arc<KeyRing>,
    /// Tokens that are refused before their time.
    pub revocations: Arc<Revocations>,
    /// The model that writes and embeds, where one is configured.
    pub model: Option<SharedModel>,
    /// What is remembered, and documents.
    pub memory: Memory,
    /// The tools that agents call.
    pub tools: Arc<Tools>,
    /// The session layers of threads, between turns.
    pub(crate) sessions: Sessions,
    /// Who waits for wakes.
    pub(crate) wakes: Arc<Wakes>,
    /// What it keeps in mind about proposals: bells, counts, unlocked terminals.
    pub approvals: Approvals,
    /// What is sent to services, and which of them are left alone.
    pub(crate) outbox: Outbox,
    pub(crate) sealer: Sealer,
    pub(crate) audit_bell: Arc<Notify>,
    /// Rings when a part of an import was taken.
    pub(crate) import_bell: Notify,
    /// Changes whose callers went away.
    pub(crate) unbroken: TaskTracker,
    pub(crate) places: Semaphore,
    pub(crate) waiting: AtomicUsize,
    pub(crate) waiters: Waiters,
    pub(crate) quotas: Quotas,
    pub(crate) audit_reads: EntryQueue,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Hub {
    /// Starts the hub on an open store, and its duties.
    pub fn start(parts: Parts) -> (Arc<Self>, Duties) {
        let Parts { store, settings, clock, entropy, keys, revocations, .. } = parts;
        let Parts { seal_key, search, containment, memory, links, model, keeper, .. } = parts;
        let memory = Memory::new(memory, links.vault.token_key());
        let sessions = Sessions::new(keeper, &links.vault.session_key());
        let (audit_reads, entries) = EntryQueue::new(limits::AUDIT_READS_QUEUE_MAX);
        let (live, audit_bell) = (Arc::<Live>::default(), Arc::<Notify>::default());
        let metrics = Arc::<Metrics>::default();
        let intake = Intake {
            store: store.clone(),
            live: Arc::clone(&live),
            clock: Arc::clone(&clock),
            entropy: Arc::clone(&entropy),
            audit_bell: Arc::clone(&audit_bell),
            expiry_bell: Notify::new(),
            metrics: Arc::clone(&metrics),
            settings: Arc::new(settings.relay.intake.clone()),
        };
        let name = format!("hub_{}", fresh_uid(&*entropy, clock.now()));
        let hub = Arc::new(Self {
            sealer: Sealer::new(store.clone(), seal_key),
            store,
            live,
            metrics,
            quotas: Quotas::new(settings.posts, settings.calls),
            settings,
            stopping: CancellationToken::new(),
            model,
            tools: Arc::default(),
            sessions,
            wakes: Arc::default(),
            approvals: Approvals::default(),
            outbox: Outbox::default(),
            search,
            containment,
            memory,
            links: Links::new(links, intake, name),
            audit_bell,
            import_bell: Notify::new(),
            unbroken: TaskTracker::new(),
            places: Semaphore::new(limits::REQUESTS_IN_FLIGHT_MAX),
            waiting: AtomicUsize::new(0),
            waiters: Waiters::default(),
            keys,
            revocations,
            audit_reads,
            clock,
            entropy,
        });
        hub.links.belong_to(&hub);
        let mut duties = Duties::default();
        duties::start(&hub, &mut duties, entries);
        (hub, duties)
    }

    /// Ends what it does in the background, seals the last audit entries and closes the store.
    pub async fn close(&self, duties: Duties) {
        self.stopping.cancel();
        self.unbroken.close();
        self.unbroken.wait().await;
        duties.stop().await;
        if let Err(error) = self.sealer.seal_once(self.now()).await {
            tracing::error!(%error, "the newest audit entries are not sealed; the next start seals them");
        }
        let (store, search) = (self.store.clone(), self.search.clone());
        let (containment, memory) = (self.containment.clone(), self.memory.index.clone());
        let close = move || {
            search.close();
            memory.close();
            containment.close();
            store.close();
        };
        if tokio::task::spawn_blocking(close).await.is_err() {
            tracing::error!("the store did not close in order");
        }
    }

    /// Learns which tokens have been revoked, before anybody is let in.
    pub async fn load_revocations(&self) -> Result<(), StoreError> {
        let now = self.now();
        let revoked = self.store.read(move |tx| tx.revoked_tokens(now)).await?;
        self.revocations.load(revoked.iter().map(|(of, jti)| (of.as_str(), jti.as_str())));
        Ok(())
    }

    /// Makes one small write durable, to show that it can.
    pub async fn prove_writable(&self) -> Result<(), StoreError> {
        let now = self.now().to_string();
        self.store.write(move |tx| tx.set_fact("ready_at", &now)).await
    }

    /// Everything the hub counts, in the Prometheus text format.
    #[expect(clippy::cast_precision_loss, reason = "these counts are far below 2^52")]
    pub fn metrics_text(&self) -> String {
        let mut text = self.metrics.render(&[
            (
                "waystation_writes_waiting",
                "Changes waiting for the writer.",
                self.store.writes_waiting() as f64,
            ),
            ("waystation_memories_episodic", "Memories of threads.", self.memory.counts().0 as f64),
            (
                "waystation_memories_long_term",
                "Memories of workspaces.",
                self.memory.counts().1 as f64,
            ),
            (
                "waystation_watchers",
                "Threads watched by live readers.",
                self.live.watchers() as f64,
            ),
            (
                "waystation_outbox_silent_places",
                "Places that do not answer and are left alone.",
                self.outbox.silent_places(self.now()) as f64,
            ),
        ]);
        text.push_str(&self.approvals.metrics_text(self.now()));
        text
    }

    /// The moment it is.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Where its time comes from.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Where its randomness comes from.
    pub(crate) fn entropy(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.entropy)
    }

    /// What wakes are made with that follow from something else.
    pub(crate) fn wake_means(&self) -> Means {
        let wake = &self.settings.wake;
        Means { entropy: self.entropy(), policy: wake.policy(), is_enabled: wake.enabled }
    }

    /// Fresh random bytes.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// A fresh id.
    pub fn new_uid(&self, at: Timestamp) -> Uid {
        Uid::new(at, self.random())
    }

    /// A request begins.
    pub fn call(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        trace: Option<Trace>,
        cancelled: CancellationToken,
    ) -> Call {
        let now = self.now();
        // One draw of randomness serves the request's id and the salt of its commitments.
        let random: [u8; 26] = self.random();
        let (mut id, mut salt) = ([0; 10], [0; 16]);
        let (head, tail) = random.split_at(10);
        id.copy_from_slice(head);
        salt.copy_from_slice(tail);
        let request_id = RequestId(Uid::new(now, id));
        let work_done = AtomicU8::new(0);
        let identity = Identity { caller, now, request_id, salt, trace, work_done };
        Call {
            hub: Arc::clone(self),
            identity: Arc::new(identity),
            cancelled,
            action: "",
            request: Commitment([0; 32]),
        }
    }
}
