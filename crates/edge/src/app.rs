//! What every route can reach.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use hub::identity::Verifier;
use hub::{Catalogue, Hub};
use parking_lot::Mutex;
use protocol::limits::links::{
    HOOK_BYTES_MIN, HOOKS_BYTES_IN_FLIGHT_MAX, HOOKS_PER_MINUTE, HOOKS_REFUSED_PER_MINUTE,
};
use protocol::{Timestamp, limits};
use tokio::sync::Semaphore;

use crate::fair::{Fairness, Shares};
use crate::mcp;
use crate::rest;
use crate::visits::Visits;

/// What every route can reach. Cheap to clone: every request does so more than once.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The hub.
    pub hub: Arc<Hub>,
    /// The one door.
    pub catalogue: Arc<Catalogue>,
    /// Who is who.
    pub verifier: Arc<Verifier>,
    /// How the listener is reached.
    pub web: WebSettings,
    /// Where operations stand.
    pub(crate) rest: rest::Table,
    /// Made when somebody asks for it first.
    pub(crate) openapi: OnceLock<Bytes>,
    /// Wrong tokens cost time: whoever guesses many is answered slowly.
    pub(crate) failures: Visits,
    pub(crate) hooks: Hooks,
    pub(crate) shares: Shares,
    pub(crate) last_ready: Mutex<Option<Timestamp>>,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Who calls hooks, and how many at once.
pub(crate) struct Hooks {
    pub(crate) all: Visits,
    pub(crate) refused: Visits,
    /// One for each [`HOOK_BYTES_MIN`] that a request may have.
    pub(crate) places: Semaphore,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            all: Visits::up_to(HOOKS_PER_MINUTE),
            refused: Visits::up_to(HOOKS_REFUSED_PER_MINUTE),
            places: Semaphore::new(HOOKS_BYTES_IN_FLIGHT_MAX / HOOK_BYTES_MIN),
        }
    }
}

/// How the listener is reached, and who may reach it from a browser.
#[derive(Clone, Debug, Default)]
pub struct WebSettings {
    /// Names by which requests may address the hub, beside loopback: `hub.example.org`.
    pub allowed_hosts: Vec<String>,
    /// Web origins that may call the hub from a browser: `https://app.example.org`.
    pub allowed_origins: Vec<String>,
    /// Where clients find the hub: `https://hub.example.org`.
    pub public_url: String,
    /// Outside issuers whose tokens count; they are named to clients that come without one.
    pub authorization_servers: Vec<String>,
    /// Lets callers in without a token; only ever set on a loopback listener.
    pub open: Option<Arc<protocol::Caller>>,
    /// How much of the listener one agent may hold.
    pub fairness: Fairness,
}

impl App {
    /// Puts the parts together.
    pub fn new(
        hub: Arc<Hub>,
        catalogue: Arc<Catalogue>,
        verifier: Arc<Verifier>,
        web: WebSettings,
    ) -> Self {
        Self(Arc::new(Parts {
            hub,
            rest: rest::Table::new(&catalogue),
            catalogue,
            verifier,
            shares: Shares::new(web.fairness),
            web,
            openapi: OnceLock::new(),
            failures: Visits::up_to(limits::AUTH_FAILURES_PER_MINUTE),
            hooks: Hooks::default(),
            last_ready: Mutex::default(),
        }))
    }
}

impl App {
    /// What MCP needs of it.
    pub fn mcp(&self) -> mcp::App {
        mcp::App { hub: Arc::clone(&self.hub), catalogue: Arc::clone(&self.catalogue) }
    }

    /// How MCP over HTTP is reached. The guard has looked at the host already.
    pub(crate) fn mcp_settings(&self) -> mcp::HttpSettings {
        let mut allowed_origins = self.web.allowed_origins.clone();
        allowed_origins.push(self.web.public_url.clone());
        let allowed_origins = allowed_origins.iter().map(|origin| with_port(origin)).collect();
        mcp::HttpSettings {
            allowed_hosts: vec!["*".to_owned()],
            allowed_origins,
            ..mcp::HttpSettings::default()
        }
    }
}

/// An origin that names its port; without one rmcp would let any port in.
fn with_port(origin: &str) -> String {
    let (scheme, host) = origin.split_once("://").unwrap_or(("http", origin));
    let has_port =
        host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let port = match (has_port, scheme) {
        (true, _) => "",
        (false, "https") => ":443",
        (false, _) => ":80",
    };
    format!("{origin}{port}")
}
