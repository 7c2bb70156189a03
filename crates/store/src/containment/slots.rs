//! A set of blocks within one segment.

use std::ops::BitAndAssign;

const WORDS: usize = 16;
/// Blocks that a set can hold.
pub(super) const SLOTS_MAX: usize = WORDS * 64;

/// A set of blocks within one segment, by their slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots([u64; WORDS]);

impl Slots {
    /// A set as it is stored; missing bytes mean absence.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut slots = Self::default();
        for (word, stored) in slots.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*stored);
        }
        slots
    }

    /// As it is stored.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        self.0.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Takes a slot in.
    pub(super) fn add(&mut self, slot: usize) {
        if let Some(word) = self.0.get_mut(slot / 64) {
            *word |= 1 << (slot % 64);
        }
    }

    /// Whether a slot is there.
    pub(super) fn has(&self, slot: usize) -> bool {
        self.0.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds all slots of another set.
    pub(super) fn join(&mut self, other: Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// The slots, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, word)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            rest.take_while(|word| *word != 0)
                .map(move |word| index * 64 + word.trailing_zeros() as usize)
        })
    }
}

impl BitAndAssign for Slots {
    fn bitand_assign(&mut self, other: Self) {
        for (word, kept) in self.0.iter_mut().zip(other.0) {
            *word &= kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_says_what_was_put_into_it() {
        let mut slots = Slots::default();
        for slot in [0, 63, 64, 700, SLOTS_MAX - 1] {
            slots.add(slot);
        }
        assert_eq!(slots.iter().collect::<Vec<_>>(), [0, 63, 64, 700, SLOTS_MAX - 1]);
        assert_eq!(slots.count(), 5);
        slots &= Slots::from_bytes(&[0xFF; 8]);
        assert_eq!(slots.iter().collect::<Vec<_>>(), [0, 63]);
    }
}
