//! Running one link: try, wait, try again, until it is removed, changed, or the hub stops.

use std::sync::Arc;
use std::time::Duration;

use connector_api::{Arrived, Capabilities, Connector, ConnectorError, Inbound};
use parking_lot::Mutex;
use protocol::chat::Facts;
use protocol::limits::links as limits;
use store::{LinkRow, StoreError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::intake::Delivery;
use super::mark::Mark;
use super::patience;
use super::registry::{Bells, Running};
use super::state::{LinkState, LinkStatus};
use crate::error::Result;
use crate::hub::Hub;

/// A link while it runs.
pub(super) struct Link {
    hub: Arc<Hub>,
    running: Running,
    /// Since when this connection is up.
    up_since: Mutex<Option<Instant>>,
}

impl Link {
    pub(super) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    pub(super) fn row(&self) -> &Arc<LinkRow> {
        &self.running.link
    }

    pub(super) fn connector(&self) -> &dyn Connector {
        &*self.running.connector
    }

    pub(super) fn bells(&self) -> &Bells {
        &self.running.bells
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.running.connector.capabilities()
    }

    /// How it is doing.
    pub(super) fn state(&self) -> LinkState {
        self.hub.links.state(self.row().row).unwrap_or_default()
    }

    /// Says how it is doing.
    pub(super) fn tell(&self, status: LinkStatus, reason: String) -> LinkState {
        if status == LinkStatus::Connected {
            self.up_since.lock().get_or_insert_with(Instant::now);
        }
        let (row, now) = (self.row().row, self.hub.now());
        self.hub.links.tell(row, (status, reason), self.capabilities(), now)
    }

    /// Commits facts and a mark; a chat that is new has its past read too.
    pub(super) async fn commit(&self, facts: Facts, mark: Mark) -> Result<()> {
        self.commit_all(facts, (Vec::new(), Vec::new()), mark).await
    }

    /// The same, with what the relay carries.
    pub(super) async fn commit_all(
        &self,
        facts: Facts,
        (inbound, arrived): (Vec<Inbound>, Vec<Arrived>),
        mark: Mark,
    ) -> Result<()> {
        let lease_owner = self.lease_owner();
        let delivery =
            Delivery { facts, mark, inbound, arrived, lease_owner, ..Delivery::default() };
        let committed = self.hub.links.intake.commit(self.row(), delivery).await?;
        if committed.taken.chats_added > 0 {
            self.bells().new_chat.notify_one();
        }
        Ok(())
    }
}

/// Runs a link until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, link: Arc<LinkRow>, stop: CancellationToken) {
    let connector = match hub.links.connect(&link) {
        Ok(connector) => connector,
        Err(error) => {
            let state = patience::state_after(&error);
            tracing::warn!(link = %link.name, reason = %error, "a link cannot be used");
            hub.links.tell(link.row, state, Capabilities::default(), hub.now());
            return stop.cancelled().await;
        }
    };
    let running = Running { link, connector, bells: Arc::default() };
    hub.links.put_running(running.clone());
    let link = Link { hub, running, up_since: Mutex::default() };
    link.tell(LinkStatus::Connecting, String::new());
    tokio::select! {
        () = keep_trying(&link, &stop) => {}
        () = ended(&stop) => {}
    }
    link.release().await;
}

/// A stream that was asked to end gets a moment to do so in order.
async fn ended(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(limits::LINK_STOP_TIMEOUT).await;
}

async fn keep_trying(link: &Link, stop: &CancellationToken) {
    let mut failures = 0;
    while !stop.is_cancelled() {
        match link.claim().await {
            Ok(true) => {}
            Ok(false) => {
                link.tell_of_other().await;
                pause(link, limits::LINKS_LOOK_EVERY, stop).await;
                continue;
            }
            Err(StoreError::Closed | StoreError::Failed) => return,
            Err(error) => {
                tracing::debug!(%error, link = %link.row().name, "the lease cannot be asked for");
                pause(link, limits::LINKS_LOOK_EVERY, stop).await;
                continue;
            }
        }
        *link.up_since.lock() = None;
        let attempt = link.attempt(stop).await;
        if stop.is_cancelled() {
            return;
        }
        let Err(error) = attempt else { continue };
        let up_since = *link.up_since.lock();
        let was_steady = up_since.is_some_and(|up| up.elapsed() >= limits::LINK_STEADY_AFTER);
        failures = if was_steady { 1 } else { failures + 1 };
        let wait = after_failure(link, &error, failures);
        pause(link, wait, stop).await;
    }
}

/// Says what went wrong, and how long to wait.
fn after_failure(link: &Link, error: &ConnectorError, failures: u32) -> Duration {
    let random = u32::from_le_bytes(link.hub().random());
    let wait = patience::wait(error, failures, random);
    let (status, reason) = patience::state_after(error);
    let name = &link.row().name;
    // Said once, however often it is tried again.
    if link.state().status == status {
        tracing::debug!(link = %name, %reason, failures, "a link is still down");
    } else {
        tracing::warn!(link = %name, %reason, "a link is down; trying again");
    }
    link.tell(status, reason);
    wait
}

async fn pause(link: &Link, wait: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        () = link.bells().again.notified() => {}
        () = stop.cancelled() => {}
    }
}
