//! Forgets what services said when it has been kept long enough: first the bytes, later the keys by which
//! it is known again. The messages it became stay.

use std::sync::Arc;

use protocol::limits::relay as limits;
use tokio_util::sync::CancellationToken;

use super::retention::{DELIVERIES, DELIVERY_BODIES, count};
use crate::error::{Error, Result};
use crate::hub::Hub;

/// Where it is remembered how far the bytes are gone.
const CURSOR: &str = "delivery_bodies_forgotten_upto";

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
        let (has_walked, dropped, forgotten) = hub
            .store
            .write(move |tx| {
                let after = tx.fact(CURSOR)?.and_then(|text| text.parse().ok()).unwrap_or(0);
                let (upto, dropped) =
                    tx.forget_bodies(after, bodies, limits::DELIVERY_SWEEP_MAX)?;
                if upto > after {
                    tx.set_fact(CURSOR, &upto.to_string())?;
                }
                let forgotten = tx.forget_deliveries(keys, limits::DELIVERY_SWEEP_MAX)?;
                Ok::<_, Error>((upto > after, dropped, forgotten))
            })
            .await?;
        count(&hub.metrics, DELIVERY_BODIES, dropped);
        count(&hub.metrics, DELIVERIES, forgotten);
        is_more = has_walked || forgotten > 0;
    }
    Ok(())
}
