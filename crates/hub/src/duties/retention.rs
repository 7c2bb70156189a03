//! Forgets what is over when it has been kept long enough: deliveries, actions, proposals, calls of
//! tools, work, what we posted, keys of messages to chats, the summaries of threads, tokens that have
//! ended, and sessions that nobody heard of. What somebody still needs stays, however old it is; messages
//! and the audit trail are never touched.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::limits::{relay, retention as limits};
use store::{Cutoffs, Kept, Portion, SessionKey, StoreError, Tx};
use tokio_util::sync::CancellationToken;

use super::deliveries;
use super::trouble::Trouble;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::relay::intake::task_key;

/// What is forgotten beside [`Kept`], as the metrics call it.
const OTHERS: [&str; 7] =
    [DELIVERY_BODIES, DELIVERIES, POSTED, CHAT_SENDS, SESSION_LAYERS, TOKENS, AGENT_SESSIONS];
pub(super) const DELIVERY_BODIES: &str = "delivery_bodies";
pub(super) const DELIVERIES: &str = "deliveries";
const POSTED: &str = "posted";
const CHAT_SENDS: &str = "chat_sends";
const SESSION_LAYERS: &str = "session_layers";
const TOKENS: &str = "tokens";
const AGENT_SESSIONS: &str = "agent_sessions";

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut trouble = Trouble::default();
    // A series that stands at zero from the start shows its first step.
    Kept::ALL
        .map(Kept::name)
        .into_iter()
        .chain(OTHERS)
        .for_each(|what| count(&hub.metrics, what, 0));
    while !stop.is_cancelled() {
        match sweep(&hub, &stop).await {
            Ok(()) => trouble.is_over(),
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => return,
            Err(error) => trouble.say(&error, "what is over is still there; trying again later"),
        }
        tokio::select! {
            () = tokio::time::sleep(limits::SWEEP_EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Counts what was forgotten.
pub(super) fn count(metrics: &Metrics, what: &str, rows: u64) {
    metrics.count(
        "waystation_forgotten_total",
        "What was over and has been forgotten, in rows.",
        &[("what", what)],
        rows,
    );
}

/// Forgets everything that is due.
async fn sweep(hub: &Arc<Hub>, stop: &CancellationToken) -> Result<()> {
    deliveries::sweep(hub, stop).await?;
    let (now, settings) = (hub.now(), &hub.settings.relay.retention);
    let cutoffs = Cutoffs {
        finished: now.plus_ms(-settings.finished_ms),
        dead: now.plus_ms(-settings.dead_ms),
    };
    for kept in Kept::ALL {
        forget(hub, kept, cutoffs, stop).await?;
    }
    let (posted, layers) = (now.plus_ms(-settings.posted_ms), now.plus_ms(-relay::SESSION_MS_MAX));
    let tokens = now.plus_ms(-limits::TOKENS_MS);
    let by_age: [(&str, Timestamp, (Oldest, Forget)); 4] = [
        (POSTED, posted, (|tx| tx.oldest_posted(), |tx, at, most| tx.forget_posted(at, most))),
        (
            CHAT_SENDS,
            posted,
            (|tx| tx.oldest_chat_send(), |tx, at, most| tx.forget_chat_sends(at, most)),
        ),
        (
            SESSION_LAYERS,
            layers,
            (|tx| tx.oldest_session_layer(), |tx, at, most| tx.forget_session_layers(at, most)),
        ),
        (TOKENS, tokens, (|tx| tx.oldest_token_end(), |tx, at, most| tx.forget_tokens(at, most))),
    ];
    for (what, before, how) in by_age {
        forget_older(hub, what, before, how, stop).await?;
    }
    forget_sessions(hub, now.plus_ms(-limits::AGENT_SESSION_MS), stop).await
}

/// Walks through the sessions of all agents, a portion at a time. There are few, and no index by their
/// age, which every report would have to move.
async fn forget_sessions(
    hub: &Arc<Hub>,
    before: Timestamp,
    stop: &CancellationToken,
) -> Result<()> {
    let mut after = SessionKey::default();
    while !stop.is_cancelled() {
        let look = move |tx: &mut Tx<'_>| {
            Ok::<_, Error>(tx.old_sessions(&after, before, limits::SWEEP_MAX)?)
        };
        let Some(portion) = hub.store.read(look).await? else { return Ok(()) };
        let over = portion.over;
        if !over.is_empty() {
            let forget = move |tx: &mut Tx<'_>| {
                let mut keys = over.iter();
                keys.try_fold(0, |rows, key| Ok::<_, Error>(rows + tx.forget_session(key, before)?))
            };
            count(&hub.metrics, AGENT_SESSIONS, hub.store.write(forget).await?);
        }
        after = portion.upto;
    }
    Ok(())
}

/// Walks through what is old, a portion at a time. Looking costs nobody anything; only what has something
/// to forget goes to the writer, and others write in between.
async fn forget(
    hub: &Arc<Hub>,
    kept: Kept,
    cutoffs: Cutoffs,
    stop: &CancellationToken,
) -> Result<()> {
    let mut after = 0;
    while !stop.is_cancelled() {
        let look = move |tx: &mut Tx<'_>| {
            Ok::<_, Error>(tx.old_portion(kept, after, cutoffs, limits::SWEEP_MAX)?)
        };
        let Some(portion) = hub.store.read(look).await? else { return Ok(()) };
        after = portion.upto;
        if portion.count > 0 {
            let rows =
                hub.store.write(move |tx| forget_portion(tx, kept, portion, cutoffs)).await?;
            count(&hub.metrics, kept.name(), rows);
        }
    }
    Ok(())
}

fn forget_portion(tx: &mut Tx<'_>, kept: Kept, portion: Portion, cutoffs: Cutoffs) -> Result<u64> {
    if kept == Kept::Work {
        // Whoever names the task later still finds its thread.
        for (workspace, task, thread_row) in tx.tasks_of_portion(portion, cutoffs)? {
            tx.stitch_thread(&workspace, &task_key(&task.to_string()), thread_row)?;
        }
    }
    Ok(tx.forget_portion(kept, portion, cutoffs)?)
}

/// When the oldest of something is from.
type Oldest = fn(&mut Tx<'_>) -> store::Result<Option<Timestamp>>;
/// Forgets what is older than a moment, so much at once.
type Forget = fn(&mut Tx<'_>, Timestamp, usize) -> store::Result<u64>;

/// Forgets what needs no look at anything but its age.
async fn forget_older(
    hub: &Arc<Hub>,
    what: &str,
    before: Timestamp,
    (oldest, forget): (Oldest, Forget),
    stop: &CancellationToken,
) -> Result<()> {
    while !stop.is_cancelled() {
        let oldest = hub.store.read(move |tx| Ok::<_, Error>(oldest(tx)?)).await?;
        if oldest.is_none_or(|oldest| oldest >= before) {
            break;
        }
        let rows = hub.store.write(move |tx| forget(tx, before, limits::SWEEP_MAX)).await?;
        count(&hub.metrics, what, rows);
    }
    Ok(())
}
