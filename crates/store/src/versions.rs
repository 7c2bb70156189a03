//! How often threads have changed, so that what was read of one may be used until it changes again.

use std::sync::atomic::{AtomicU64, Ordering};

/// Threads share these counters: one that changes only makes others be read once more than needed.
const COUNTERS: usize = 1_024;

/// A counter for every thread, moved on after each commit that touched it.
pub(crate) struct Versions(Box<[AtomicU64]>);

impl Default for Versions {
    fn default() -> Self {
        Self((0..COUNTERS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Versions {
    fn counter(&self, thread_row: i64) -> &AtomicU64 {
        let place = usize::try_from(thread_row.unsigned_abs()).unwrap_or(0) % COUNTERS;
        self.0.get(place).expect("the place is less than their number")
    }

    /// Whoever asks before it reads can be sure that an equal answer later means an equal thread.
    pub(crate) fn of(&self, thread_row: i64) -> u64 {
        self.counter(thread_row).load(Ordering::Acquire)
    }

    /// To be called after the commit and before anyone is told of it.
    pub(crate) fn move_on(&self, thread_rows: &[i64]) {
        for row in thread_rows {
            self.counter(*row).fetch_add(1, Ordering::Release);
        }
    }
}
