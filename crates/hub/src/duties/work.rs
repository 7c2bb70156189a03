//! Takes back work whose lease has ended, and counts what stands in queues and in the outbox.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::limits::relay as limits;
use store::StoreError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::work;

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut counted_at: Option<Instant> = None;
    loop {
        if let Err(error) = turn(&hub, &mut counted_at).await {
            if matches!(error, Error::Store(StoreError::Closed | StoreError::Failed)) {
                return;
            }
            tracing::debug!(%error, "work cannot be looked at; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(limits::WORK_LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}

async fn turn(hub: &Arc<Hub>, counted_at: &mut Option<Instant>) -> Result<()> {
    let next = hub.store.read(|tx| Ok::<_, Error>(tx.next_work_lapse()?)).await?;
    let now: Timestamp = hub.now();
    if next.is_some_and(|next| next <= now) {
        let reaped =
            hub.store.write(move |tx| work::reap(tx, now, limits::WORK_LAPSED_BATCH_MAX)).await?;
        for workspace in &reaped.workspaces {
            hub.live.announce_work(workspace);
        }
        work::count_dead(&hub.metrics, &reaped.dead);
    }
    if counted_at.is_none_or(|at| at.elapsed() >= limits::DEPTHS_COUNTED_EVERY) {
        *counted_at = Some(Instant::now());
        work::count_depths(hub).await?;
    }
    Ok(())
}
