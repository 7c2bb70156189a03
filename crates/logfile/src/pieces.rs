//! Pieces of a file that follow one another, until they go out together.

/// SQLite's own layer writes fewer bytes than this at once, and refuses a multiple of it.
const BYTES_MAX: usize = (1 << 17) - 1;

/// Pieces that follow one another, and what of the file was lost on its way there.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Where the first of them belongs.
    start: i64,
    bytes: Vec<u8>,
    lost: Option<Lost>,
}

/// A part of the file that was taken and never reached it.
///
/// SQLite takes back what it is told about, but not always at once: a statement of several may have met
/// it and be undone alone. Until the part has been written again nothing behind it is taken, so that no
/// transaction is committed over a hole.
#[derive(Clone, Copy, Debug)]
struct Lost {
    start: i64,
    end: i64,
    /// What SQLite was told.
    why: i32,
}

impl Pieces {
    /// Whether a piece fits behind the others. Alone, any fits that is not too large.
    pub(crate) fn fits(&self, at: i64, length: usize) -> bool {
        let follows = self.bytes.is_empty() || self.end() == at;
        follows && self.bytes.len().saturating_add(length) <= BYTES_MAX
    }

    /// Adds a piece that fits.
    pub(crate) fn add(&mut self, at: i64, piece: &[u8]) {
        if self.bytes.is_empty() {
            self.start = at;
        }
        self.bytes.extend_from_slice(piece);
        self.wrote(at, piece.len());
    }

    /// What is there, and where it belongs.
    pub(crate) fn all(&self) -> Option<(i64, &[u8])> {
        (!self.bytes.is_empty()).then_some((self.start, self.bytes.as_slice()))
    }

    /// So many bytes of the file, where all of them wait here.
    pub(crate) fn waiting(&self, at: i64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(length)?)
    }

    /// Whether any of these bytes of the file wait here.
    pub(crate) fn holds_some(&self, at: i64, length: usize) -> bool {
        !self.bytes.is_empty() && at < self.end() && behind(at, length) > self.start
    }

    /// Forgets what is there: it was written.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Forgets what is there: it could not be written.
    pub(crate) fn lose(&mut self, why: i32) {
        let (start, end) = (self.start, self.end());
        let lost = self.lost.unwrap_or(Lost { start, end, why });
        self.lost = Some(Lost { start: start.min(lost.start), end: end.max(lost.end), why });
        self.bytes.clear();
    }

    /// Bytes of the file are there now, or wait here.
    pub(crate) fn wrote(&mut self, at: i64, length: usize) {
        let end = behind(at, length);
        if let Some(lost) = self.lost.as_mut().filter(|lost| at <= lost.start) {
            lost.start = end.max(lost.start);
            if lost.start >= lost.end {
                self.lost = None;
            }
        }
    }

    /// Why nothing may be written here: it would stand behind what was lost.
    pub(crate) fn forbids_write(&self, at: i64) -> Option<i32> {
        self.lost.filter(|lost| at > lost.start).map(|lost| lost.why)
    }

    /// Why these bytes cannot be read: some of them were lost.
    pub(crate) fn forbids_read(&self, at: i64, length: usize) -> Option<i32> {
        let lost = self.lost.filter(|lost| at < lost.end && behind(at, length) > lost.start);
        lost.map(|lost| lost.why)
    }

    fn end(&self) -> i64 {
        behind(self.start, self.bytes.len())
    }
}

/// Where so many bytes end.
fn behind(at: i64, length: usize) -> i64 {
    at.saturating_add_unsigned(u64::try_from(length).unwrap_or(u64::MAX))
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

    #[test]
    fn what_waits_is_found_here() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.waiting(0, 1), None);
        pieces.add(100, b"abcdef");
        assert_eq!(pieces.waiting(100, 6), Some(b"abcdef".as_slice()));
        assert_eq!(pieces.waiting(102, 2), Some(b"cd".as_slice()));
        for (at, length) in [(99, 2), (104, 3), (106, 1), (i64::MIN, 1), (i64::MAX, 1)] {
            assert_eq!(pieces.waiting(at, length), None, "{at}");
        }
        let holds = |at, length| pieces.holds_some(at, length);
        assert!(holds(99, 2) && holds(104, 3) && holds(0, 1_000) && holds(103, 1));
        assert!(!holds(0, 100) && !holds(106, 100) && !holds(i64::MAX, usize::MAX));
    }

    #[test]
    fn nothing_is_taken_behind_what_was_lost_until_that_is_written_again() {
        let mut pieces = Pieces::default();
        pieces.add(100, &[1; 50]);
        pieces.lose(13);
        assert_eq!(pieces.all(), None);
        assert_eq!(pieces.forbids_write(101), Some(13));
        assert_eq!(pieces.forbids_write(150), Some(13), "behind a hole");
        assert_eq!(pieces.forbids_read(90, 11), Some(13));
        assert_eq!(pieces.forbids_read(149, 1), Some(13));
        assert_eq!((pieces.forbids_read(90, 10), pieces.forbids_read(150, 9)), (None, None));
        // In front of it all goes on, and what is written in its place fills it from its beginning.
        assert_eq!(pieces.forbids_write(60), None);
        pieces.wrote(60, 40);
        assert_eq!(pieces.forbids_write(101), Some(13), "not one byte of it");
        pieces.add(100, &[2; 20]);
        assert_eq!((pieces.forbids_write(120), pieces.forbids_write(121)), (None, Some(13)));
        assert_eq!((pieces.forbids_read(110, 10), pieces.forbids_read(120, 1)), (None, Some(13)));
        pieces.clear();
        pieces.add(120, &[3; 31]);
        assert_eq!((pieces.forbids_write(1_000), pieces.forbids_read(0, 1_000)), (None, None));
    }

    #[test]
    fn what_is_lost_again_is_one_part_with_what_was_lost_before() {
        let mut pieces = Pieces::default();
        pieces.add(100, &[1; 50]);
        pieces.lose(13);
        pieces.add(80, &[2; 30]);
        pieces.lose(10);
        assert_eq!(pieces.forbids_write(81), Some(10));
        assert_eq!(pieces.forbids_read(149, 1), Some(10));
        pieces.wrote(80, 70);
        assert_eq!(pieces.forbids_write(150), None);
    }
}
