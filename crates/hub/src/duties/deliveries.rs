//! Forgets what services said when it has been kept long enough: first the bytes, later the keys by which
//! it is known again. The messages it became stay.

use std::sync::Arc;

use protocol::limits::relay as limits;
use tokio_util::sync::CancellationToken;

use super::retention::{DELIVERIES, DELIVERY_BODIES, count};
use crate::error::{Error, Result};
use crate::hub::Hub;

/// Forgets everything that is due, in portions, so that nobody else has to wait for long.
pub(super) async fn sweep(hub: &Arc<Hub>, stop: &CancellationToken) -> Result<()> {
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
        let (looked, dropped, forgotten) = hub
            .store
            .write(move |tx| {
                let (looked, dropped) = tx.forget_bodies(bodies, limits::DELIVERY_SWEEP_MAX)?;
                let forgotten = tx.forget_deliveries(keys, limits::DELIVERY_SWEEP_MAX)?;
                Ok::<_, Error>((looked, dropped, forgotten))
            })
            .await?;
        count(&hub.metrics, DELIVERY_BODIES, dropped);
        count(&hub.metrics, DELIVERIES, forgotten);
        is_more = looked > 0 || forgotten > 0;
    }
    Ok(())
}
