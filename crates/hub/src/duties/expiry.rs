//! Forgets messages whose time is up: their words, their versions, and what hung on them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::Timestamp;
use protocol::limits::links as limits;
use store::{StoreError, Tx};
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::chats::take::expire;
use crate::clock::Entropy;
use crate::error::{Error, Result};
use crate::hub::Hub;

/// What it is called in the audit trail.
const ACTION: &str = "expire_messages";
/// Who does it.
const ACTOR: &str = "expiry";

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
                trouble.say(&error, "messages whose time is up are still there; trying again");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = hub.links.expiry_bell().notified() => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Forgets what is due; answers how long nothing else will be.
async fn turn(hub: &Arc<Hub>) -> Result<Duration> {
    let now = hub.now();
    let next = hub.store.read(|tx| Ok::<_, Error>(tx.next_expiry()?)).await?;
    let Some(next) = next else { return Ok(limits::EXPIRY_LOOK_EVERY) };
    if next > now {
        let ms = u64::try_from(next.ms_since(now)).unwrap_or(0);
        return Ok(Duration::from_millis(ms).min(limits::EXPIRY_LOOK_EVERY));
    }
    let entropy = hub.entropy();
    let forgotten = hub.store.write(move |tx| forget(tx, &*entropy, now)).await?;
    hub.audit_bell.notify_one();
    for thread in &forgotten {
        hub.live.announce_chat(*thread);
    }
    // There may be more that is due.
    Ok(Duration::ZERO)
}

/// Forgets one portion, with an entry for each workspace; answers the chats in which something was
/// forgotten.
fn forget(tx: &mut Tx<'_>, entropy: &dyn Entropy, now: Timestamp) -> Result<Vec<i64>> {
    let mut threads = Vec::new();
    let mut by_workspace = BTreeMap::<String, u64>::new();
    for (at, thread_row, seq) in tx.expired(now, limits::EXPIRY_BATCH_MAX)? {
        tx.delete_expiry(at, thread_row, seq)?;
        if expire(tx, thread_row, seq, at)? {
            threads.push(thread_row);
            *by_workspace
                .entry(tx.thread_workspace(thread_row)?.unwrap_or_default())
                .or_default() += 1;
        }
    }
    for (workspace, messages) in by_workspace {
        let identity = Identity::of_service(&workspace, ACTOR, now, entropy);
        let request = Commitment::request(&identity.salt, &[]);
        let change = Change::of(format!("{messages} messages"), messages);
        change.enter(tx, &identity, ACTION, &request)?;
    }
    threads.sort_unstable();
    threads.dedup();
    Ok(threads)
}
