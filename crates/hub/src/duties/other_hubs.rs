//! Several hubs on one PostgreSQL: what another one committed is told to the readers of this one, and
//! what another one revoked is refused here. Loss is harmless: readers go by their own cursors.

use std::collections::BTreeSet;
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
/// Rows read at one look; what is left is read at the next.
const ROWS_MAX: usize = 20_000;

/// Runs until it is stopped.
pub(crate) async fn run(
    store: Store,
    live: Arc<Live>,
    revocations: Arc<Revocations>,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
) {
    let mut seen: Option<Ends> = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
        let (now, after) = (clock.now(), seen.as_ref().map(Ends::newest));
        match store.read(move |tx| look(tx, after, now)).await {
            Ok(News { ends, revoked }) => {
                revocations.load(revoked.iter().map(|(of, jti)| (of.as_str(), jti.as_str())));
                match &seen {
                    // What was committed before the first look is not known: everyone looks once.
                    None => live.announce_everyone(),
                    Some(seen) => announce(&live, &ends.threads_not_in(seen)),
                }
                seen = Some(ends);
            }
            Err(StoreError::Closed) => return,
            Err(error) => tracing::debug!(%error, "could not look for other hubs' news"),
        }
    }
}

fn announce(live: &Live, threads: &BTreeSet<i64>) {
    for row in threads {
        live.announce_chat(*row);
    }
    if !threads.is_empty() {
        live.announce_members();
    }
}

struct News {
    ends: Ends,
    /// Workspaces and ids.
    revoked: Vec<(String, String)>,
}

/// The end of the log, and that of the changes: a message that was changed or taken back is no new row.
struct Ends {
    messages: End,
    changes: End,
}

impl Ends {
    fn newest(&self) -> (i64, i64) {
        (self.messages.newest, self.changes.newest)
    }

    fn threads_not_in(&self, seen: &Self) -> BTreeSet<i64> {
        let messages = self.messages.threads_not_in(&seen.messages);
        messages.chain(self.changes.threads_not_in(&seen.changes)).collect()
    }
}

/// What a look found at the end of a table: rows in order, each with its thread.
struct End {
    newest: i64,
    rows: Vec<(i64, i64)>,
}

impl End {
    fn of(before: i64, rows: Vec<(i64, i64)>) -> Self {
        let newest = rows.last().map_or(before, |(row, _)| before.max(*row));
        Self { newest, rows }
    }

    fn threads_not_in(&self, seen: &Self) -> impl Iterator<Item = i64> {
        let is_new = |row| seen.rows.binary_search_by_key(row, |(row, _)| *row).is_err();
        self.rows.iter().filter(move |(row, _)| is_new(row)).map(|(_, thread)| *thread)
    }
}

/// Reads what has come since the newest rows of the last look, and those before it once more.
fn look(tx: &mut Tx<'_>, after: Option<(i64, i64)>, now: Timestamp) -> Result<News, StoreError> {
    let (message, change) = match after {
        Some(after) => after,
        None => (tx.newest_message_row()?, tx.newest_change_row()?),
    };
    let messages = End::of(message, tx.rows_after(message - OVERLAP_ROWS, ROWS_MAX)?);
    let changes = End::of(change, tx.change_rows_after(change - OVERLAP_ROWS, ROWS_MAX)?);
    Ok(News { ends: Ends { messages, changes }, revoked: tx.revoked_tokens(now)? })
}
