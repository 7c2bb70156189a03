//! Several hubs on one PostgreSQL: what another one committed is told to the readers of this one, and
//! what another one revoked is refused here. Loss is harmless: readers go by their own cursors.

use std::sync::Arc;
use std::time::Duration;

use protocol::Timestamp;
use store::{Store, StoreError, Tx};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::identity::Revocations;
use crate::live::Live;

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Rows looked at again each time: a transaction may commit after one that began later.
const OVERLAP_ROWS: i64 = 512;
/// Threads told of at one look.
const THREADS_MAX: usize = 1_000;

/// Runs until it is stopped.
pub(crate) async fn run(
    store: Store,
    live: Arc<Live>,
    revocations: Arc<Revocations>,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
) {
    let mut seen = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
        let now = clock.now();
        match store.read(move |tx| look(tx, seen, now)).await {
            Ok(news) => {
                revocations.load(news.revoked.iter().map(|(of, jti)| (of.as_str(), jti.as_str())));
                match seen {
                    // What was committed before the first look is not known: everyone looks once.
                    None => live.announce_everyone(),
                    Some(seen) if news.newest != seen => {
                        news.threads.iter().for_each(|row| live.announce_chat(*row));
                        live.announce_members();
                    }
                    Some(_) => {}
                }
                seen = Some(news.newest);
            }
            Err(StoreError::Closed) => return,
            Err(error) => tracing::debug!(%error, "could not look for other hubs' news"),
        }
    }
}

/// The newest message and the newest change of one.
type Newest = (i64, i64);

struct News {
    newest: Newest,
    threads: Vec<i64>,
    /// Workspaces and ids.
    revoked: Vec<(String, String)>,
}

fn look(tx: &mut Tx<'_>, seen: Option<Newest>, now: Timestamp) -> Result<News, StoreError> {
    let newest = (tx.newest_message_row()?, tx.newest_change_row()?);
    let mut threads = Vec::new();
    if let Some((message, change)) = seen {
        if newest.0 > message {
            threads = tx.threads_with_rows_after(message - OVERLAP_ROWS, THREADS_MAX)?;
        }
        // A message that was changed or taken back is no new row of the log.
        if newest.1 > change {
            threads.extend(tx.threads_with_changes_after(change - OVERLAP_ROWS, THREADS_MAX)?);
        }
    }
    Ok(News { newest, threads, revoked: tx.revoked_tokens(now)? })
}
