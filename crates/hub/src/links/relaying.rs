//! What the relay asks of links: which of them reach a page, and what a person did with a proposal.

use std::sync::{Arc, Weak};

use connector_api::{Connector, HookAnswer, Interaction};
use store::LinkRow;

use super::registry::{Links, Running};
use super::run::Link;
use super::vault::LinkVault;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::approvals;

impl Links {
    /// Says which hub they belong to, once, when it is there.
    pub(crate) fn belong_to(&self, hub: &Arc<Hub>) {
        // A hub is started once; a second word would change nothing.
        let _known = self.owner.set(Arc::downgrade(hub));
    }

    /// The key of what links and the relay keep secret.
    pub(crate) fn vault(&self) -> &LinkVault {
        &self.parts.vault
    }

    /// The links of a workspace that run and carry postings, in the order of their names.
    pub(crate) fn relaying(&self, workspace: &str) -> Vec<(Arc<LinkRow>, Arc<dyn Connector>)> {
        let running = self.running.lock();
        let ours = running
            .values()
            .filter(|one| one.link.workspace == workspace && one.connector.capabilities().relay);
        let mut found: Vec<_> =
            ours.map(|one| (Arc::clone(&one.link), Arc::clone(&one.connector))).collect();
        found.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        found
    }

    /// Does what a person wants with a proposal; answers what the service is told.
    pub(super) async fn fulfil(
        &self,
        running: &Running,
        wish: Interaction,
        answer: HookAnswer,
    ) -> Result<HookAnswer> {
        let hub = self.owner.get().and_then(Weak::upgrade).ok_or(Error::Stopping)?;
        let (link, connector) = (&running.link, &*running.connector);
        Ok(approvals::interaction(&hub, link, connector, wish, answer).await)
    }
}

impl Link {
    /// The same for what a stream reports.
    pub(super) async fn fulfil(&self, wish: Interaction) -> HookAnswer {
        let (hub, link) = (self.hub(), self.row());
        approvals::interaction(hub, link, self.connector(), wish, HookAnswer::default()).await
    }
}
