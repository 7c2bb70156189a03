//! A hub on a throw-away store, with a clock the test moves and callers it names.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hub::audit::SealKey;
use hub::identity::{IdentityConfig, KeyRing};
use hub::{Catalogue, Clock, Error, Hub, Input, Parts, Settings, SystemEntropy};
use protocol::{Caller, Role, Timestamp};
use ring::rand::SystemRandom;
use serde_json::Value;
use store::{SearchIndex, Store};
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
    _folders: (Option<tempfile::TempDir>, tempfile::TempDir),
}

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
    Settings { posts: rate, calls: rate, agent_turns_max: 0, ..Settings::default() }
}

/// Opens a throw-away store.
pub fn open_store(on: On) -> (Store, Option<tempfile::TempDir>) {
    match on {
        On::Sqlite => {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let settings = store::Settings::Sqlite { folder: folder.path().to_owned(), readers: 2 };
            (Store::open(&settings).expect("a fresh store opens"), Some(folder))
        }
        On::Postgres => {
            // The blocking client must not be used on an async thread.
            let store = std::thread::spawn(|| {
                let url = crate::postgres::fresh_database();
                Store::open(&store::Settings::Postgres { url, connections: 4 })
            });
            (store.join().expect("the thread ends").expect("a fresh store opens"), None)
        }
    }
}

impl TestHub {
    /// A hub on SQLite with quotas that do not get in the way.
    pub fn start() -> Self {
        Self::with(On::Sqlite, generous())
    }

    /// A hub of this kind.
    pub fn with(on: On, settings: Settings) -> Self {
        let (store, folder) = open_store(on);
        let clock = Arc::new(ManualClock::default());
        let keys_folder = tempfile::tempdir().expect("a temporary folder can be made");
        let authority = IdentityConfig::default().authority().expect("the defaults are good");
        let keys = KeyRing::open(&keys_folder.path().join("keys"), authority, clock.now())
            .expect("fresh keys can be made");
        let (hub, duties) = Hub::start(Parts {
            store,
            settings,
            clock: Arc::clone(&clock) as _,
            entropy: Arc::new(SystemEntropy::default()),
            keys: Arc::new(keys),
            revocations: Arc::default(),
            search: SearchIndex::open(keys_folder.path()).expect("a fresh index opens"),
            seal_key: SealKey::open(&keys_folder.path().join("keys"), &SystemRandom::new())
                .expect("a fresh key can be made"),
        });
        let catalogue = Arc::new(hub::catalogue());
        Self { hub, catalogue, clock, duties, _folders: (folder, keys_folder) }
    }

    /// Calls an operation through the door.
    pub async fn call(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        input: Value,
    ) -> Result<Value, Error> {
        let call = self.hub.call(Arc::clone(caller), None, CancellationToken::new());
        let input = Input::Bytes(input.to_string().into_bytes());
        self.catalogue.call(call, name, input).await.map(|answer| answer.value())
    }

    /// The same, for calls that must succeed.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub async fn ok(&self, caller: &Arc<Caller>, name: &str, input: Value) -> Value {
        match self.call(caller, name, input).await {
            Ok(answer) => answer,
            Err(error) => panic!("{name} failed: {} {error}", error.code()),
        }
    }

    /// The code of a call that must fail.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub async fn code(&self, caller: &Arc<Caller>, name: &str, input: Value) -> &'static str {
        match self.call(caller, name, input).await {
            Ok(answer) => panic!("{name} succeeded: {answer}"),
            Err(error) => error.code().name(),
        }
    }

    /// Stops duties and closes the store.
    pub async fn stop(self) {
        self.hub.close(self.duties).await;
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
        jti: format!("jti_{agent}"),
        iat: Timestamp::from_ms(0),
        exp: Timestamp::from_ms(i64::MAX),
    })
}
