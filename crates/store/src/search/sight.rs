//! What a caller may see, as the search needs it.

use std::collections::HashSet;

use protocol::limits;
use rusqlite::Connection;

use super::request::{SearchQuery, SearchScope};
use crate::error::Result;

/// What a caller may see of a workspace.
pub(super) enum Sight {
    /// Everything.
    Workspace,
    /// Few enough threads to be named in an expression; sorted.
    Few(Vec<i64>),
    /// More threads than that.
    Many(HashSet<i64>),
}

impl Sight {
    /// The scope of a query, narrowed to its thread; `None` when nothing is left.
    pub(super) fn of(query: &SearchQuery) -> Option<Self> {
        match (&query.scope, query.thread_row) {
            (SearchScope::Workspace, None) => Some(Self::Workspace),
            (SearchScope::Workspace, Some(thread)) => Some(Self::Few(vec![thread])),
            (SearchScope::Threads(threads), Some(thread)) => {
                threads.contains(&thread).then(|| Self::Few(vec![thread]))
            }
            (SearchScope::Threads(threads), None) => Self::of_threads(threads),
        }
    }

    fn of_threads(threads: &[i64]) -> Option<Self> {
        let many: HashSet<i64> = threads.iter().copied().collect();
        if many.is_empty() {
            None
        } else if many.len() > limits::SEARCH_SCOPE_THREADS_MAX {
            Some(Self::Many(many))
        } else {
            let mut few: Vec<i64> = many.into_iter().collect();
            few.sort_unstable();
            Some(Self::Few(few))
        }
    }

    /// Whether a thread may be seen.
    pub(super) fn includes(&self, thread: i64) -> bool {
        match self {
            Self::Workspace => true,
            Self::Few(threads) => threads.binary_search(&thread).is_ok(),
            Self::Many(threads) => threads.contains(&thread),
        }
    }
}

/// Which of a few threads have messages in a volume.
pub(super) fn present_of_few(tx: &Connection, volume: i64, threads: &[i64]) -> Result<Vec<i64>> {
    let mut select = tx.prepare_cached("SELECT 1 FROM spread WHERE volume = ?1 AND thread = ?2")?;
    let mut present = Vec::new();
    for thread in threads {
        if select.exists([volume, *thread])? {
            present.push(*thread);
        }
    }
    Ok(present)
}

/// Which of many threads have messages in a volume; `None` when they are too many to be named.
pub(super) fn present_of_many(
    tx: &Connection,
    volume: i64,
    threads: &HashSet<i64>,
) -> Result<Option<Vec<i64>>> {
    let mut select = tx.prepare_cached("SELECT thread FROM spread WHERE volume = ?1")?;
    let mut rows = select.query([volume])?;
    let mut present = Vec::new();
    while let Some(row) = rows.next()? {
        let thread: i64 = row.get(0)?;
        if threads.contains(&thread) {
            if present.len() == limits::SEARCH_SCOPE_THREADS_MAX {
                return Ok(None);
            }
            present.push(thread);
        }
    }
    Ok(Some(present))
}
