//! Enters reads and refusals in the audit trail, in batches, off the request's path.

use std::sync::Arc;

use protocol::limits;
use store::{Store, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::audit::{Delay, OwnedEntry, WaitingEntries, with_trace};

/// Runs until it is stopped; then enters what is left.
pub(crate) async fn run(
    store: Store,
    mut waiting: WaitingEntries,
    bell: Arc<Notify>,
    stop: CancellationToken,
) {
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            count = waiting.entries.recv_many(&mut batch, limits::AUDIT_READS_BATCH_MAX) => {
                if count == 0 {
                    return;
                }
            }
            () = stop.cancelled(), if !waiting.entries.is_closed() => {
                waiting.entries.close();
                continue;
            }
        }
        enter(&store, batch, &waiting, &stop).await;
        bell.notify_one();
    }
}

async fn enter(
    store: &Store,
    batch: Vec<OwnedEntry>,
    waiting: &WaitingEntries,
    stop: &CancellationToken,
) {
    let batch = Arc::new(batch);
    let mut trouble = Trouble::default();
    loop {
        let work = Arc::clone(&batch);
        let result: Result<(), StoreError> = store
            .write(move |tx| {
                for entry in work.iter() {
                    let commitments = (&entry.request, &entry.response);
                    let detail = entry.asked.detail();
                    let detail = with_trace(detail.as_deref(), entry.call.trace.as_ref());
                    tx.insert_audit(&entry.call.entry(
                        entry.action,
                        entry.asked.object(),
                        entry.outcome,
                        commitments,
                        detail.as_deref(),
                    ))?;
                }
                Ok(())
            })
            .await;
        let error = match result {
            Ok(()) => {
                waiting.note(Delay::Busy);
                return;
            }
            Err(StoreError::Overloaded) => {
                tokio::task::yield_now().await;
                continue;
            }
            Err(error) => error,
        };
        // What was answered while the database was out of reach or the disk full is entered afterwards.
        match Delay::of(&error) {
            Some(delay) if !stop.is_cancelled() => {
                waiting.note(delay);
                trouble.say(&error, "reads wait to be audited; trying again");
                tokio::select! {
                    () = tokio::time::sleep(limits::DATABASE_RECONNECT_PAUSE) => {}
                    () = stop.cancelled() => {}
                }
            }
            _ => {
                tracing::error!(%error, entries = batch.len(), "reads could not be audited");
                return;
            }
        }
    }
}
