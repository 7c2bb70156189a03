//! Drawing lots that fall alike for the same seed.

/// A source of numbers.
pub(super) struct Lot(u64);

pub(super) const DIGITS: &str = "0123456789";
pub(super) const HEX: &str = "0123456789abcdef";
pub(super) const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
pub(super) const LARGE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(super) const LARGE_DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(super) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub(super) const URL: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
pub(super) const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";

impl Lot {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below another.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % most.max(1)
    }

    /// A number between two, both included.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Whether something happens that happens so often in a hundred times.
    pub(super) fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        let place = usize::try_from(self.below(of.len() as u64)).unwrap_or(0);
        of.get(place).copied().expect("nobody picks from nothing")
    }

    /// Signs of an alphabet.
    pub(super) fn signs(&mut self, count: usize, of: &str) -> String {
        let all: Vec<char> = of.chars().collect();
        (0..count)
            .filter_map(|_| {
                let place = usize::try_from(self.below(all.len() as u64)).unwrap_or(0);
                all.get(place)
            })
            .collect()
    }

    /// Digits.
    pub(super) fn digits(&mut self, count: usize) -> String {
        self.signs(count, DIGITS)
    }

    /// Digits of which the first is two or more.
    pub(super) fn number(&mut self, count: usize) -> String {
        let first = self.signs(1, "23456789");
        let rest = self.digits(count.saturating_sub(1));
        format!("{first}{rest}")
    }
}
