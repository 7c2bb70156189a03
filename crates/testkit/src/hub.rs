//! A hub on a throw-away store, with a clock the test moves and callers it names.

use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use connector_api::ConnectorKind;
use connector_api::model::SharedModel;
use connector_api::session::SharedKeeper;
use connector_api::toolkit::{HttpClient, HttpSettings};
use hub::audit::SealKey;
use hub::identity::{IdentityConfig, KeyRing};
use hub::links::{LinkParts, LinkVault};
use hub::wakes::WakeSettings;
use hub::{Catalogue, Clock, Error, Hub, Input, Parts, Settings, SystemEntropy};
use protocol::{Caller, Role, Timestamp};
use ring::rand::SystemRandom;
use serde_json::Value;
use store::{ContainmentIndex, MemoryIndex, SearchIndex, Store};
use tokio_util::sync::CancellationToken;

/// The clock of the specification's examples: it stands at 2026-02-17T12:00:00Z until it is moved.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_771_329_600_000))
    }
}

impl ManualClock {
    /// Moves time forward, or back.
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }
}

/// A running hub for one test.
pub struct TestHub {
    /// The hub.
    pub hub: Arc<Hub>,
    /// Its one door.
    pub catalogue: Arc<Catalogue>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    duties: hub::duties::Duties,
    place: Place,
}

/// What a hub finds again after a restart.
struct Place {
    store: store::Settings,
    _folder: Option<tempfile::TempDir>,
    keys_folder: tempfile::TempDir,
    connectors: Connectors,
    model: Option<SharedModel>,
    keeper: Option<MakeKeeper>,
}

/// How each hub comes by its keeper of session layers: every process has a connection of its own.
pub type MakeKeeper = Arc<dyn Fn() -> SharedKeeper + Send + Sync>;

/// The services a hub can be linked to.
pub type Connectors = &'static [&'static dyn ConnectorKind];

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The embedded default.
    Sqlite,
    /// A throw-away PostgreSQL.
    Postgres,
}

/// Quotas and guards that do not get in a test's way.
pub fn generous() -> Settings {
    let rate = hub::Rate { per_second: 1_000_000, burst: 1_000_000 };
    let wake = WakeSettings { triggers_per_minute: 1_000_000, ..WakeSettings::default() };
    Settings { posts: rate, calls: rate, agent_turns_max: 0, wake, ..Settings::default() }
}

/// Makes a throw-away place for a store.
fn fresh_store(on: On) -> (store::Settings, Option<tempfile::TempDir>) {
    match on {
        On::Sqlite => {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let path = folder.path().to_owned();
            (store::Settings::Sqlite { folder: path, readers: 2 }, Some(folder))
        }
        On::Postgres => {
            // The blocking client must not be used on an async thread.
            let url = std::thread::spawn(crate::postgres::fresh_database);
            let url = url.join().expect("the thread ends");
            (store::Settings::Postgres { url, connections: 4 }, None)
        }
    }
}

fn open_store(settings: &store::Settings) -> Store {
    let settings = settings.clone();
    let store = std::thread::spawn(move || Store::open(&settings));
    store.join().expect("the thread ends").expect("the store opens")
}

impl TestHub {
    /// A hub on SQLite with quotas that do not get in the way.
    pub fn start() -> Self {
        Self::with(On::Sqlite, generous())
    }

    /// A hub of this kind.
    pub fn with(on: On, settings: Settings) -> Self {
        Self::with_connectors(on, settings, &[])
    }

    /// A hub that can be linked to these services.
    pub fn with_connectors(on: On, settings: Settings, connectors: Connectors) -> Self {
        Self::with_model(on, settings, connectors, None)
    }

    /// The same with a model.
    pub fn with_model(
        on: On,
        settings: Settings,
        connectors: Connectors,
        model: Option<SharedModel>,
    ) -> Self {
        Self::with_keeper(on, settings, connectors, model, None)
    }

    /// The same with a keeper of session layers.
    pub fn with_keeper(
        on: On,
        settings: Settings,
        connectors: Connectors,
        model: Option<SharedModel>,
        keeper: Option<MakeKeeper>,
    ) -> Self {
        let (store, folder) = fresh_store(on);
        let keys_folder = tempfile::tempdir().expect("a temporary folder can be made");
        let place = Place { store, _folder: folder, keys_folder, connectors, model, keeper };
        Self::open(place, settings, Arc::default())
    }

    fn open(place: Place, settings: Settings, clock: Arc<ManualClock>) -> Self {
        let authority = IdentityConfig::default().authority().expect("the defaults are good");
        let keys = KeyRing::open(&place.keys_folder.path().join("keys"), authority, clock.now())
            .expect("the keys open");
        let store = open_store(&place.store);
        let (folder, database) = (place.keys_folder.path(), store.database_id().to_owned());
        let (hub, duties) = Hub::start(Parts {
            store,
            settings,
            clock: Arc::clone(&clock) as _,
            entropy: Arc::new(SystemEntropy),
            keys: Arc::new(keys),
            revocations: Arc::default(),
            search: SearchIndex::open(folder, &database).expect("a fresh index opens"),
            containment: ContainmentIndex::open(folder, &database, 2).expect("a fresh index opens"),
            memory: MemoryIndex::open(folder, &database).expect("a fresh index opens"),
            seal_key: SealKey::open(&place.keys_folder.path().join("keys"), &SystemRandom::new())
                .expect("a fresh key can be made"),
            model: place.model.clone(),
            keeper: place.keeper.as_ref().map(|make| make()),
            links: LinkParts {
                kinds: place.connectors,
                http: HttpClient::new(&HttpSettings::default()).expect("a client can be made"),
                vault: LinkVault::open(
                    &place.keys_folder.path().join("keys"),
                    &SystemRandom::new(),
                )
                .expect("a fresh key can be made"),
            },
        });
        let catalogue = Arc::new(hub::catalogue());
        Self { hub, catalogue, clock, duties, place }
    }

    /// Another hub on the same PostgreSQL, at the same time of day.
    #[must_use]
    pub fn beside(&self) -> Self {
        let keys_folder = tempfile::tempdir().expect("a temporary folder can be made");
        // Hubs that share a database share the key of their links.
        let keys = keys_folder.path().join("keys");
        std::fs::DirBuilder::new().mode(0o700).create(&keys).expect("a folder can be made");
        let from = self.place.keys_folder.path().join("keys").join("links.key");
        std::fs::copy(from, keys.join("links.key")).expect("the key can be copied");
        let (store, connectors) = (self.place.store.clone(), self.place.connectors);
        let (model, keeper) = (self.place.model.clone(), self.place.keeper.clone());
        let place = Place { store, _folder: None, keys_folder, connectors, model, keeper };
        Self::open(place, self.hub.settings.clone(), Arc::clone(&self.clock))
    }

    /// The URL of its PostgreSQL, if it is on one.
    pub fn postgres_url(&self) -> Option<&str> {
        match &self.place.store {
            store::Settings::Postgres { url, .. } => Some(url),
            store::Settings::Sqlite { .. } => None,
        }
    }

    /// Stops the hub and starts another one on the same store, at the same time of day.
    #[must_use]
    pub async fn restart(self) -> Self {
        let settings = self.hub.settings.clone();
        self.restart_with(settings).await
    }

    /// The same, after something was done while nobody had the files open.
    #[must_use]
    pub async fn restart_after(self, work: impl FnOnce()) -> Self {
        let (settings, clock) = (self.hub.settings.clone(), Arc::clone(&self.clock));
        let place = self.end().await;
        work();
        Self::open(place, settings, clock)
    }

    /// The same, with other settings.
    #[must_use]
    pub async fn restart_with(self, settings: Settings) -> Self {
        let clock = Arc::clone(&self.clock);
        let place = self.end().await;
        Self::open(place, settings, clock)
    }

    /// The database file, for those who look for what must not stand in it.
    pub fn database_folder(&self) -> Option<&std::path::Path> {
        match &self.place.store {
            store::Settings::Sqlite { folder, .. } => Some(folder),
            store::Settings::Postgres { .. } => None,
        }
    }

    /// The folder of views and keys, for the same reason.
    pub fn views_folder(&self) -> &std::path::Path {
        self.place.keys_folder.path()
    }

    /// Calls an operation through the door.
    pub async fn call(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        input: Value,
    ) -> Result<Value, Error> {
        self.call_text(caller, name, input.to_string().into_bytes()).await
    }

    /// Calls an operation with whatever bytes a client may send.
    pub async fn call_text(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        input: Vec<u8>,
    ) -> Result<Value, Error> {
        let call = self.hub.call(Arc::clone(caller), None, CancellationToken::new());
        let answer = self.catalogue.call(call, name, Input::Bytes(input)).await;
        answer.map(|answer| answer.value())
    }

    /// The same, for calls that must succeed.
    #[expect(clippy::panic, reason = "a test whose call fails has failed")]
    pub async fn ok(&self, caller: &Arc<Caller>, name: &str, input: Value) -> Value {
        match self.call(caller, name, input).await {
            Ok(answer) => answer,
            Err(error) => panic!("{name} failed: {} {error}", error.code()),
        }
    }

    /// The code of a call that must fail.
    #[expect(clippy::panic, reason = "a test whose call succeeds has failed")]
    pub async fn code(&self, caller: &Arc<Caller>, name: &str, input: Value) -> &'static str {
        match self.call(caller, name, input).await {
            Ok(answer) => panic!("{name} succeeded: {answer}"),
            Err(error) => error.code().name(),
        }
    }

    /// Stops duties and closes the store.
    pub async fn stop(self) {
        drop(self.end().await);
    }

    async fn end(self) -> Place {
        self.hub.close(self.duties).await;
        self.place
    }
}

/// A caller of the workspace `wk_mobile_core`.
pub fn caller(agent: &str, role: Role) -> Arc<Caller> {
    caller_in("wk_mobile_core", agent, role)
}

/// A caller of any workspace.
pub fn caller_in(workspace: &str, agent: &str, role: Role) -> Arc<Caller> {
    Arc::new(Caller {
        agent_id: agent.to_owned(),
        workspace_id: workspace.to_owned(),
        role,
        session_id: format!("sess_{agent}"),
        scopes: role.default_scopes(),
        chats: role.default_chats(),
        toolsets: None,
        jti: format!("jti_{agent}"),
        iat: Timestamp::from_ms(0),
        exp: Timestamp::from_ms(i64::MAX),
    })
}
