//! Pieces of a file that follow one another, until they go out together.

/// SQLite's own layer writes fewer bytes than this at once, and refuses a multiple of it.
const BYTES_MAX: usize = (1 << 17) - 1;

/// Pieces that follow one another.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Where the first of them belongs.
    start: i64,
    bytes: Vec<u8>,
}

impl Pieces {
    /// Whether a piece fits behind the others. Alone, any fits that is not too large.
    pub(crate) fn fits(&self, at: i64, length: usize) -> bool {
        let follows = self.bytes.is_empty() || self.end() == Some(at);
        follows && self.bytes.len().saturating_add(length) <= BYTES_MAX
    }

    /// Adds a piece that fits.
    pub(crate) fn add(&mut self, at: i64, piece: &[u8]) {
        if self.bytes.is_empty() {
            self.start = at;
        }
        self.bytes.extend_from_slice(piece);
    }

    /// What is there, and where it belongs.
    pub(crate) fn all(&self) -> Option<(i64, &[u8])> {
        (!self.bytes.is_empty()).then_some((self.start, self.bytes.as_slice()))
    }

    /// Forgets what is there.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    fn end(&self) -> Option<i64> {
        self.start.checked_add_unsigned(u64::try_from(self.bytes.len()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_follow_one_another_become_one() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.all(), None);
        assert!(pieces.fits(32, 3));
        pieces.add(32, b"abc");
        assert!(pieces.fits(35, 2));
        pieces.add(35, b"de");
        assert_eq!(pieces.all(), Some((32, b"abcde".as_slice())));
        pieces.clear();
        assert_eq!(pieces.all(), None);
    }

    #[test]
    fn a_gap_a_step_back_and_too_much_do_not_fit() {
        let mut pieces = Pieces::default();
        assert!(pieces.fits(0, BYTES_MAX));
        assert!(!pieces.fits(0, BYTES_MAX + 1));
        pieces.add(100, &[0; 50]);
        assert!(!pieces.fits(151, 1));
        assert!(!pieces.fits(149, 1));
        assert!(!pieces.fits(100, 1));
        assert!(pieces.fits(150, BYTES_MAX - 50));
        assert!(!pieces.fits(150, BYTES_MAX - 49));
    }

    #[test]
    fn an_offset_at_the_end_of_all_numbers_does_not_wrap() {
        let mut pieces = Pieces::default();
        pieces.add(i64::MAX, b"a");
        assert!(!pieces.fits(i64::MIN, 1));
    }
}
