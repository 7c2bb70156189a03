//! Sends what stands in the outbox: several at once, one of each destination.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use protocol::limits::relay as limits;
use store::{Engine, OutboxRow, StoreError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::hub::Hub;
use crate::relay::outbox;

/// Runs until it is stopped. What is being sent then gets a moment; what does not end in it is looked for
/// at the service by whoever takes over.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut watch = hub.live.watch();
    watch.add_outbox();
    let mut sending = JoinSet::new();
    let leases = AtomicU64::new(0);
    let mut is_new = hub.store.engine() == Engine::Sqlite;
    let mut trouble = Trouble::default();
    loop {
        let wait = match turn(&hub, &mut sending, &leases, &mut is_new).await {
            Ok(wait) => {
                trouble.is_over();
                wait
            }
            Err(StoreError::Closed | StoreError::Failed) => break,
            Err(error) => {
                trouble.say(&error, "nothing is sent for the moment; trying again");
                limits::OUTBOX_LOOK_EVERY
            }
        };
        tokio::select! {
            () = watch.changed() => {}
            Some(ended) = sending.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a sender broke off; what it sent is looked for");
                }
            }
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => break,
        }
    }
    let all = async { while sending.join_next().await.is_some() {} };
    if tokio::time::timeout(protocol::limits::links::LINK_STOP_TIMEOUT, all).await.is_err() {
        tracing::info!("something was still being sent; the next start looks whether it arrived");
    }
}

/// Takes what is due and has it sent; answers how long to wait.
async fn turn(
    hub: &Arc<Hub>,
    sending: &mut JoinSet<()>,
    leases: &AtomicU64,
    is_new: &mut bool,
) -> Result<Duration, StoreError> {
    if *is_new {
        // Nobody else uses this database: what was being sent when the hub ended is nobody's now.
        hub.store.write(|tx| tx.abandon_outbox_leases()).await?;
        *is_new = false;
    }
    let in_flight_max = hub.settings.relay.outbox.in_flight_max;
    let room = in_flight_max.saturating_sub(sending.len());
    if room == 0 {
        return Ok(limits::OUTBOX_LOOK_EVERY);
    }
    let next = hub.store.read(|tx| tx.next_outbox_due()).await?;
    let now = hub.now();
    let Some(next) = next else { return Ok(limits::OUTBOX_LOOK_EVERY) };
    if next > now {
        let ms = u64::try_from(next.ms_since(now)).unwrap_or(1);
        return Ok(Duration::from_millis(ms).min(limits::OUTBOX_LOOK_EVERY));
    }
    // A name for each lease: a sender that was away for too long cannot be mistaken for its successor.
    let holder = format!("{} {}", hub.links.hub_name(), leases.fetch_add(1, Ordering::Relaxed));
    let until = now.plus_ms(limits::OUTBOX_LEASE_MS);
    let rows: Vec<OutboxRow> =
        hub.store.write(move |tx| tx.lease_outbox(&holder, (now, until), room)).await?;
    let found = !rows.is_empty();
    for row in rows {
        sending.spawn(outbox::send(Arc::clone(hub), row));
    }
    // There may be more; but what another hub is taking just now is not to be looked at in a circle.
    Ok(if found { Duration::ZERO } else { Duration::from_millis(50) })
}
