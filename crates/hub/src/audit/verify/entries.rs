//! The entries under one seal that is known to be good: the first that differs, and how.

use protocol::audit::Hash;
use store::SealRow;

use super::Problem;
use super::read::FoundEntry;
use crate::audit::detail::DetailState;
use crate::audit::record::entry_hash;

/// What was seen of details so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// Whether an entry has had a commitment to its detail: from then on, every detail has one.
    pub(super) are_committed: bool,
}

/// Compares the entries found in a seal's range with the hashes that were sealed.
pub(super) fn check(
    seal: &SealRow,
    leaves: &[Hash],
    found: &[FoundEntry],
    details: &mut Details,
) -> Result<(), Problem> {
    let pairs = found.iter().zip(leaves);
    let same = pairs.take_while(|(entry, leaf)| entry.hash.as_ref() == Some(*leaf)).count();
    // Commitments are believed of these, because their hashes cover them.
    found.iter().take(same).try_for_each(|entry| details.check(seal, entry))?;
    let place = Place { seal, leaves, found, index: same };
    match (found.get(same), leaves.get(same)) {
        (None, None) => check_range(seal, found),
        (Some(entry), None) => Err(Problem::EntryInserted { entry: entry.id, seal: seal.id }),
        (None, Some(_)) => Err(place.missing().unwrap_or(Problem::RangeWrong { seal: seal.id })),
        (Some(entry), Some(leaf)) => Err(place.differs(entry, leaf)),
    }
}

impl Details {
    /// Whether an entry has the detail that it was made with, or had.
    fn check(&mut self, seal: &SealRow, entry: &FoundEntry) -> Result<(), Problem> {
        let (entry, seal, state) = (entry.id, seal.id, entry.detail);
        match state {
            DetailState::Erased | DetailState::Fits => {
                self.are_committed = true;
                Ok(())
            }
            DetailState::Differs => Err(Problem::DetailAltered { entry, seal }),
            DetailState::Uncommitted if self.are_committed => {
                Err(Problem::DetailAdded { entry, seal })
            }
            DetailState::Absent | DetailState::Uncommitted => Ok(()),
        }
    }
}

fn check_range(seal: &SealRow, found: &[FoundEntry]) -> Result<(), Problem> {
    let ends = (found.first().map(|entry| entry.id), found.last().map(|entry| entry.id));
    if ends == (Some(seal.first_id), Some(seal.last_id)) {
        Ok(())
    } else {
        Err(Problem::RangeWrong { seal: seal.id })
    }
}

/// Where entries and leaves part.
struct Place<'a> {
    seal: &'a SealRow,
    leaves: &'a [Hash],
    found: &'a [FoundEntry],
    index: usize,
}

impl Place<'_> {
    fn differs(&self, entry: &FoundEntry, leaf: &Hash) -> Problem {
        let (entry_id, seal) = (entry.id, self.seal.id);
        let inserted = Problem::EntryInserted { entry: entry_id, seal };
        let later_entries = self.found.iter().skip(self.index + 1);
        if later_entries.into_iter().any(|later| later.hash.as_ref() == Some(leaf)) {
            return inserted;
        }
        let mut later_leaves = self.leaves.iter().skip(self.index + 1);
        let was_sealed_later = later_leaves.any(|later| entry.hash.as_ref() == Some(later));
        if was_sealed_later && let Some(missing) = self.missing() {
            return missing;
        }
        if let Some(belongs_to) = self.belongs_to(entry) {
            return Problem::OrderChanged { entry: entry_id, belongs_to, seal };
        }
        // The numbers of the first and of the last entry stand in the seal.
        let is_last = self.index + 1 == self.leaves.len();
        let is_foreign = (self.index == 0 && entry_id < self.seal.first_id)
            || (is_last && entry_id < self.seal.last_id)
            || self.found.len() > self.leaves.len();
        if is_foreign {
            return inserted;
        }
        let is_short = self.found.len() < self.leaves.len();
        if (is_short || self.index == 0)
            && let Some(missing) = self.missing()
        {
            return missing;
        }
        match entry.row {
            Some(_) => Problem::EntryAltered { entry: entry_id, seal },
            None => Problem::EntryUnreadable { entry: entry_id, seal },
        }
    }

    /// The number under which an entry's content was sealed, if it was.
    fn belongs_to(&self, entry: &FoundEntry) -> Option<i64> {
        let row = entry.row.as_ref()?;
        let mut places = self.found.iter().zip(self.leaves);
        places.find(|(place, leaf)| entry_hash(row, place.id) == **leaf).map(|(place, _)| place.id)
    }

    /// The entry of the first leaf that differs is gone; `None` when no number is free for it.
    fn missing(&self) -> Option<Problem> {
        let before = self.index.checked_sub(1).and_then(|index| self.found.get(index));
        let mut first = before.map_or(self.seal.first_id, |entry| entry.id.saturating_add(1));
        let after = self.found.get(self.index);
        let mut last = after.map_or(self.seal.last_id, |entry| entry.id.saturating_sub(1));
        if self.index == 0 {
            last = last.min(self.seal.first_id);
        }
        if self.index + 1 == self.leaves.len() {
            first = first.max(self.seal.last_id);
        }
        (first <= last).then_some(Problem::EntryMissing { first, last, seal: self.seal.id })
    }
}
