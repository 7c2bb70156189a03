//! What a service could not say because the hub was away, or answered badly: it is asked for it, and
//! what it says then is taken in like everything else. What was said before is known again.

use connector_api::{ConnectorError, MissedPage, Result};
use protocol::chat::Facts;
use protocol::limits::{links as link_limits, relay as limits};
use store::{ReconcileRow, StoreError};
use tokio::time::timeout;

use super::attempt::{not_stored, silent};
use super::mark::Mark;
use super::run::Link;

impl Link {
    /// Asks now and then, for as long as the link is up. It never ends by itself.
    pub(super) async fn reconcile(&self) {
        if !self.capabilities().hooks {
            return std::future::pending().await;
        }
        loop {
            match self.reconcile_once().await {
                Ok(()) => {}
                // A service that cannot say it is not asked again.
                Err(ConnectorError::Unsupported { .. }) => return std::future::pending().await,
                Err(error) => {
                    tracing::info!(link = %self.row().name, reason = %error, "what was missed is not known yet");
                }
            }
            tokio::time::sleep(limits::RECONCILE_EVERY).await;
        }
    }

    /// Asks for everything since the last time, page by page. Each page is committed with the place
    /// where the next one begins.
    async fn reconcile_once(&self) -> Result<()> {
        let (row, now) = (self.row().row, self.hub().now());
        let known = self.hub().store.read(move |tx| tx.reconcile(row)).await;
        let known = known.map_err(|error: StoreError| not_stored(&error.into()))?;
        let Some(mut at) = known else {
            // Before the link was ever up there was nothing to miss.
            let begin = ReconcileRow { through: now, began: None, next: None };
            return self.keep(Vec::new(), begin).await;
        };
        at.began.get_or_insert(now);
        let earliest = now.plus_ms(-limits::RECONCILE_MS_MAX);
        let since = at.through.plus_ms(-limits::RECONCILE_OVERLAP_MS).max(earliest);
        for _ in 0..limits::RECONCILE_PAGES_MAX {
            let asked = self.connector().missed(since, at.next.clone());
            let page = timeout(link_limits::LINK_PAGE_TIMEOUT, asked).await;
            let MissedPage { inbound, next } = page.map_err(|_| silent())??;
            if next.is_some() && next == at.next {
                let reason = "a page that leads further than itself".to_owned();
                return Err(ConnectorError::Protocol { reason });
            }
            let is_done = next.is_none();
            if is_done {
                let through = at.began.unwrap_or(now);
                at = ReconcileRow { through, began: None, next: None };
            } else {
                at.next = next;
            }
            self.keep(inbound, at.clone()).await?;
            if is_done {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn keep(&self, inbound: Vec<connector_api::Inbound>, at: ReconcileRow) -> Result<()> {
        let mark = Mark::Reconciled(at);
        let kept = self.commit_all(Facts::default(), (inbound, Vec::new()), mark).await;
        kept.map_err(|error| not_stored(&error))
    }
}
