//! On a database that several hubs share, one of them runs a link. The others tell what it says.

use protocol::Timestamp;
use protocol::limits::links as limits;
use store::{Engine, LeaseRow, StoreError};

use super::run::Link;
use super::state::ToldState;

impl Link {
    /// Whether there can be other hubs.
    fn is_shared(&self) -> bool {
        self.hub().store.engine() == Engine::Postgres
    }

    /// The name that must stand in the lease when something is committed.
    pub(super) fn lease_owner(&self) -> Option<String> {
        self.is_shared().then(|| self.hub().links.hub_name.clone())
    }

    /// Takes the right to run the link, or keeps it; `false` while another hub has it.
    pub(super) async fn claim(&self) -> Result<bool, StoreError> {
        let Some(owner) = self.lease_owner() else { return Ok(true) };
        let (row, now, state) = (self.row().row, self.hub().now(), self.state().told());
        let until = now.plus_ms(limits::LINK_LEASE_MS);
        self.hub().store.write(move |tx| tx.claim_lease(row, &owner, now, until, &state)).await
    }

    /// Keeps the right for as long as it can; ends when it is lost.
    pub(super) async fn keep_claim(&self) {
        if !self.is_shared() {
            return std::future::pending().await;
        }
        let mut kept_at = tokio::time::Instant::now();
        loop {
            tokio::time::sleep(limits::LINK_LEASE_RENEW_EVERY).await;
            match self.claim().await {
                Ok(true) => kept_at = tokio::time::Instant::now(),
                Ok(false) => return,
                // While the database is away nobody else can take the link either; but when it is
                // back, whoever is first has it.
                Err(error) => {
                    tracing::debug!(%error, link = %self.row().name, "the lease was not renewed");
                    let lease =
                        std::time::Duration::from_millis(limits::LINK_LEASE_MS.unsigned_abs());
                    if kept_at.elapsed() >= lease {
                        return;
                    }
                }
            }
        }
    }

    /// Gives the right back.
    pub(super) async fn release(&self) {
        let Some(owner) = self.lease_owner() else { return };
        let row = self.row().row;
        let released: Result<(), StoreError> =
            self.hub().store.write(move |tx| tx.release_lease(row, &owner)).await;
        if let Err(error) = released {
            tracing::debug!(%error, "a lease was not given back; it ends by itself");
        }
    }

    /// Tells what the hub that runs the link says of it.
    pub(super) async fn tell_of_other(&self) {
        let row = self.row().row;
        let lease: Result<Option<LeaseRow>, StoreError> =
            self.hub().store.read(move |tx| tx.lease(row)).await;
        if let Ok(Some(lease)) = lease
            && let Ok(told) = serde_json::from_str::<ToldState>(&lease.state)
        {
            let mut state = self.tell(told.status, told.reason);
            state.since = Timestamp::from_ms(told.since_ms);
            self.hub().links.set(row, state);
        }
    }
}
