//! Asks, reminds and tells people about proposals, by the clock. It decides nothing.

use std::sync::Arc;
use std::time::Duration;

use protocol::limits::approvals as limits;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::approvals;

/// How long it rests after an error.
const STEP_ASIDE: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut trouble = Trouble::default();
    while !stop.is_cancelled() {
        let wait = match turn(&hub).await {
            Ok(wait) => {
                trouble.is_over();
                wait
            }
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => return,
            Err(error) => {
                trouble.say(&error, "nobody is asked or reminded for the moment; trying again");
                STEP_ASIDE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = hub.approvals.rung() => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Looks after what is due; answers how long nothing else will be.
async fn turn(hub: &Arc<Hub>) -> Result<Duration> {
    let now = hub.now();
    let look = move |tx: &mut store::Tx<'_>| {
        let due = tx.due_proposals(now, limits::PROPOSALS_PER_TURN_MAX)?;
        Ok::<_, Error>((due, tx.waiting_proposals()?))
    };
    let (due, waiting) = hub.store.read(look).await?;
    hub.approvals.set_waiting(waiting);
    if due.is_empty() {
        return Ok(limits::REMINDERS_LOOK_EVERY);
    }
    let means = approvals::means(hub).await?;
    let mut failed = None;
    for id in due {
        let means = means.clone();
        let looked = hub.store.write(move |tx| approvals::look_after(tx, &means, id, now)).await;
        // One that cannot be looked after must not keep the others waiting.
        if let Err(error) = looked {
            tracing::debug!(%error, proposal = %id, "a proposal could not be looked after");
            failed = Some(error);
        }
    }
    hub.audit_bell.notify_one();
    hub.live.announce_outbox();
    match failed {
        Some(error) => Err(error),
        None => Ok(Duration::ZERO),
    }
}
