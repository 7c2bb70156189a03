//! Keeping the newest of what is found.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The newest hits, as many as are wanted.
pub(super) struct Newest<T> {
    hits: BinaryHeap<Reverse<Hit<T>>>,
    max: usize,
}

/// A message that was found, and what is to be kept of it.
pub(super) struct Hit<T> {
    /// The time it was sent, and its row.
    pub(super) key: (i64, i64),
    pub(super) kept: T,
}

impl<T> PartialEq for Hit<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Hit<T> {}

impl<T> PartialOrd for Hit<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Hit<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> Newest<T> {
    /// Room for so many.
    pub(super) fn new(max: usize) -> Self {
        Self { hits: BinaryHeap::new(), max }
    }

    /// Whether a message would be kept.
    pub(super) fn wants(&self, key: (i64, i64)) -> bool {
        self.hits.len() < self.max || self.hits.peek().is_some_and(|oldest| key > oldest.0.key)
    }

    /// Whether nothing of this time or older would be kept.
    pub(super) fn is_settled(&self, newest_ms: i64) -> bool {
        !self.wants((newest_ms, i64::MAX))
    }

    /// Keeps a message that is wanted, in place of the oldest if need be.
    pub(super) fn keep(&mut self, key: (i64, i64), kept: T) {
        self.hits.push(Reverse(Hit { key, kept }));
        if self.hits.len() > self.max {
            self.hits.pop();
        }
    }

    /// What was kept, newest first.
    pub(super) fn into_vec(self) -> Vec<Hit<T>> {
        // Ascending by `Reverse`, which is descending by what it holds.
        self.hits.into_sorted_vec().into_iter().map(|Reverse(hit)| hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_are_kept() {
        let mut newest = Newest::new(2);
        for (key, name) in [((5, 1), 'a'), ((9, 1), 'b'), ((7, 2), 'c'), ((7, 1), 'd')] {
            if newest.wants(key) {
                newest.keep(key, name);
            }
        }
        assert!(newest.is_settled(6) && !newest.is_settled(7));
        let names: String = newest.into_vec().iter().map(|hit| hit.kept).collect();
        assert_eq!(names, "bc");
    }
}
