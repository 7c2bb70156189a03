//! Forgets what services said when it has been kept long enough: first the bytes, later the keys by which
//! it is known again. The messages it became stay.

use std::sync::Arc;

use protocol::limits::relay as limits;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::hub::Hub;

/// Where it is remembered how far the bytes are gone.
const CURSOR: &str = "delivery_bodies_forgotten_upto";

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut has_failed = false;
    while !stop.is_cancelled() {
        match sweep(&hub, &stop).await {
            Ok(()) => has_failed = false,
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => return,
            Err(error) => {
                // Said once, however often it is tried again.
                if !has_failed {
                    tracing::warn!(%error, "old deliveries are still there; trying again later");
                }
                has_failed = true;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(limits::DELIVERY_SWEEP_EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Forgets everything that is due, in portions, so that nobody else has to wait for long.
async fn sweep(hub: &Arc<Hub>, stop: &CancellationToken) -> Result<()> {
    let now = hub.now();
    let intake = &hub.settings.relay.intake;
    let (bodies, keys) = (now.plus_ms(-intake.body_ms), now.plus_ms(-intake.key_ms));
    let mut is_more = true;
    while is_more && !stop.is_cancelled() {
        // Looking costs nobody anything; only what has something to forget goes to the writer.
        let oldest = hub.store.read(|tx| Ok::<_, Error>(tx.oldest_delivery()?)).await?;
        let Some(oldest) = oldest else { return Ok(()) };
        if oldest >= bodies && oldest >= keys {
            return Ok(());
        }
        is_more = hub
            .store
            .write(move |tx| {
                let after = tx.fact(CURSOR)?.and_then(|text| text.parse().ok()).unwrap_or(0);
                let upto = tx.forget_bodies(after, bodies, limits::DELIVERY_SWEEP_MAX)?;
                if upto > after {
                    tx.set_fact(CURSOR, &upto.to_string())?;
                }
                let forgotten = tx.forget_deliveries(keys, limits::DELIVERY_SWEEP_MAX)?;
                Ok::<_, Error>(upto > after || forgotten > 0)
            })
            .await?;
    }
    Ok(())
}
