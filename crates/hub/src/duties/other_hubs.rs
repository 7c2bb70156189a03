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
                revocations.load(news.revoked.iter().map(String::as_str));
                match seen {
                    // What was committed before the first look is not known: everyone looks once.
                    None => live.announce_everyone(),
                    Some(seen) if news.newest_row > seen => {
                        news.threads.iter().for_each(|row| live.announce_chat(*row));
                        live.announce_members();
                    }
                    Some(_) => {}
                }
                seen = Some(news.newest_row);
            }
            Err(StoreError::Closed) => return,
            Err(error) => tracing::debug!(%error, "could not look for other hubs' news"),
        }
    }
}

struct News {
    newest_row: i64,
    threads: Vec<i64>,
    revoked: Vec<String>,
}

fn look(tx: &mut Tx<'_>, seen: Option<i64>, now: Timestamp) -> Result<News, StoreError> {
    let newest_row = tx.newest_message_row()?;
    let threads = match seen {
        Some(seen) if newest_row > seen => {
            tx.threads_with_rows_after(seen - OVERLAP_ROWS, THREADS_MAX)?
        }
        _ => Vec::new(),
    };
    Ok(News { newest_row, threads, revoked: tx.revoked_tokens(now)? })
}
