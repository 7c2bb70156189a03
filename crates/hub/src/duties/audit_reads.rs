//! Enters reads and refusals in the audit trail, in batches, off the request's path.

use std::sync::Arc;

use protocol::limits;
use store::{Store, StoreError};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::audit::{OwnedEntry, with_trace};

/// Runs until it is stopped; then enters what is left.
pub(crate) async fn run(
    store: Store,
    mut entries: mpsc::Receiver<OwnedEntry>,
    bell: Arc<Notify>,
    stop: CancellationToken,
) {
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            count = entries.recv_many(&mut batch, limits::AUDIT_READS_BATCH_MAX) => {
                if count == 0 {
                    return;
                }
            }
            () = stop.cancelled(), if !entries.is_closed() => {
                entries.close();
                continue;
            }
        }
        enter(&store, batch, &stop).await;
        bell.notify_one();
    }
}

async fn enter(store: &Store, batch: Vec<OwnedEntry>, stop: &CancellationToken) {
    let batch = Arc::new(batch);
    let mut trouble = Trouble::default();
    loop {
        let work = Arc::clone(&batch);
        let result: Result<(), StoreError> = store
            .write(move |tx| {
                for entry in work.iter() {
                    let commitments = (&entry.request, &entry.response);
                    let detail = with_trace(None, entry.call.trace.as_ref());
                    tx.insert_audit(&entry.call.entry(
                        entry.action,
                        "",
                        entry.outcome,
                        commitments,
                        detail.as_deref(),
                    ))?;
                }
                Ok(())
            })
            .await;
        match result {
            Err(StoreError::Overloaded) => tokio::task::yield_now().await,
            // What was answered before the outage is entered after it.
            Err(error) if error.is_outage() && !stop.is_cancelled() => {
                trouble.say(&error, "reads wait to be audited; trying again");
                tokio::select! {
                    () = tokio::time::sleep(limits::DATABASE_RECONNECT_PAUSE) => {}
                    () = stop.cancelled() => {}
                }
            }
            Err(error) => {
                tracing::error!(%error, entries = batch.len(), "reads could not be audited");
                return;
            }
            Ok(()) => return,
        }
    }
}
