//! Every link of this hub: how it is doing, its client while it runs, and what all of them share.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{Capabilities, Connector, ConnectorKind};
use parking_lot::Mutex;
use protocol::Timestamp;
use ring::rand::SecureRandom;
use store::LinkRow;
use tokio::sync::Notify;

use super::intake::Intake;
use super::state::{LinkState, LinkStatus};
use super::vault::{LinkVault, VaultError};
use crate::hub::Hub;

/// What links are made of.
pub struct LinkParts {
    /// The services there are.
    pub kinds: &'static [&'static dyn ConnectorKind],
    /// The client they reach out with.
    pub http: HttpClient,
    /// The key of their secrets.
    pub vault: LinkVault,
}

impl LinkParts {
    /// For a hub that cannot be linked to anything. Its key lies in this folder.
    pub fn without_services(keys: &Path, random: &dyn SecureRandom) -> Result<Self, VaultError> {
        let http = HttpClient::new(&HttpSettings::default()).map_err(VaultError::Client)?;
        Ok(Self { kinds: &[], http, vault: LinkVault::open(keys, random)? })
    }
}

/// Every link with an account.
pub struct Links {
    pub(super) parts: LinkParts,
    pub(super) intake: Intake,
    /// This hub, among those that share a database.
    pub(super) hub_name: String,
    states: Mutex<HashMap<i64, LinkState>>,
    pub(super) running: Mutex<HashMap<i64, Running>>,
    changed: Notify,
    /// The hub they belong to.
    pub(super) owner: OnceLock<Weak<Hub>>,
}

/// A link that runs.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) link: Arc<LinkRow>,
    pub(super) connector: Arc<dyn Connector>,
    pub(super) bells: Arc<Bells>,
}

/// What a link's parts tell each other.
#[derive(Debug, Default)]
pub(super) struct Bells {
    /// The stream is up.
    pub(super) up: Notify,
    /// There is a chat whose past nobody has read.
    pub(super) new_chat: Notify,
    /// Somebody has mended something: no need to wait any longer.
    pub(super) again: Notify,
}

impl Links {
    pub(crate) fn new(parts: LinkParts, intake: Intake, hub_name: String) -> Self {
        Self {
            parts,
            intake,
            hub_name,
            states: Mutex::default(),
            running: Mutex::default(),
            changed: Notify::new(),
            owner: OnceLock::new(),
        }
    }

    /// A service by its name.
    pub fn kind(&self, service: &str) -> Option<&'static dyn ConnectorKind> {
        self.parts.kinds.iter().copied().find(|kind| kind.service() == service)
    }

    /// The names of the services there are.
    pub fn services(&self) -> Vec<&'static str> {
        self.parts.kinds.iter().map(|kind| kind.service()).collect()
    }

    /// How a link is doing; `None` before anybody has looked.
    pub fn state(&self, link_row: i64) -> Option<LinkState> {
        self.states.lock().get(&link_row).cloned()
    }

    /// A link is doing otherwise now.
    pub fn set(&self, link_row: i64, state: LinkState) {
        self.states.lock().insert(link_row, state);
    }

    /// A link is gone.
    pub fn forget(&self, link_row: i64) {
        self.states.lock().remove(&link_row);
        self.running.lock().remove(&link_row);
    }

    /// The client of a link that runs.
    pub fn connector(&self, link_row: i64) -> Option<Arc<dyn Connector>> {
        self.running.lock().get(&link_row).map(|running| Arc::clone(&running.connector))
    }

    /// A link that runs, and its client.
    pub(crate) fn client(&self, link_row: i64) -> Option<(Arc<LinkRow>, Arc<dyn Connector>)> {
        let running = self.running.lock();
        running.get(&link_row).map(|one| (Arc::clone(&one.link), Arc::clone(&one.connector)))
    }

    /// The name of this hub among those that share a database.
    pub(crate) fn hub_name(&self) -> &str {
        &self.hub_name
    }

    /// A link was added, changed or removed.
    pub(crate) fn announce_change(&self) {
        self.changed.notify_one();
    }

    /// Waits until a link was added, changed or removed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Rings when a message was taken in that must be forgotten at a time.
    pub(crate) fn expiry_bell(&self) -> &Notify {
        &self.intake.expiry_bell
    }

    /// Somebody has mended what a link waits for.
    pub(super) fn try_again(&self, link_row: i64) {
        if let Some(running) = self.running.lock().get(&link_row) {
            running.bells.again.notify_one();
        }
    }

    pub(super) fn put_running(&self, running: Running) {
        self.running.lock().insert(running.link.row, running);
    }

    /// The links of a name that run.
    pub(super) fn running_named(&self, workspace: Option<&str>, name: &str) -> Vec<Running> {
        let running = self.running.lock();
        let fits = |one: &&Running| {
            one.link.name == name && workspace.is_none_or(|of| one.link.workspace == of)
        };
        running.values().filter(fits).cloned().collect()
    }

    /// Says how a link is doing; since when stays, as long as it is the same.
    pub(super) fn tell(
        &self,
        link_row: i64,
        (status, reason): (LinkStatus, String),
        capabilities: Capabilities,
        now: Timestamp,
    ) -> LinkState {
        let mut states = self.states.lock();
        let before = states.get(&link_row);
        let since = before.filter(|before| before.status == status).map_or(now, |b| b.since);
        let state = LinkState { status, reason, since, capabilities };
        states.insert(link_row, state.clone());
        state
    }
}
