//! The tracker never believes a line to be empty that is not, whatever is typed and however it is cut.
#![expect(clippy::disallowed_methods, reason = "moments are only counted from the first")]
#![expect(clippy::indexing_slicing, reason = "a test that is surprised fails")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use waystation_supervisor::human::{Draft, Tracker};

/// What a human or their terminal does.
#[derive(Clone, Debug)]
enum Act {
    Type(String),
    Backspace,
    KillLine,
    Interrupt,
    Enter,
    NewLine,
    Left,
    Up,
    Escape,
    Paste(String),
    Report(&'static str),
    ModernLetter(char),
    ModernEnter,
    ModernNewLine,
}

const REPORTS: [&str; 12] = [
    "\x1b[12;40R",
    "\x1b[?62;22c",
    "\x1b[I",
    "\x1b[O",
    "\x1b[<0;10;10M",
    "\x1b[<0;10;10m",
    "\x1b[M !!",
    "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b]11;rgb:ffff/ffff/ffff\x07",
    "\x1bP>|xterm(390)\x1b\\",
    "\x1b[?1u",
    "\x1b[97;1:3u",
];

impl Act {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Type(text) => text.as_bytes().to_vec(),
            Self::Backspace => vec![0x7f],
            Self::KillLine => vec![0x15],
            Self::Interrupt => vec![0x03],
            Self::Enter => vec![b'\r'],
            Self::NewLine => vec![0x1b, b'\r'],
            Self::Left => b"\x1b[D".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Escape => vec![0x1b],
            Self::Paste(text) => format!("\x1b[200~{text}\x1b[201~").into_bytes(),
            Self::Report(text) => text.as_bytes().to_vec(),
            Self::ModernLetter(letter) => format!("\x1b[{}u", u32::from(*letter)).into_bytes(),
            Self::ModernEnter => b"\x1b[13u".to_vec(),
            Self::ModernNewLine => b"\x1b[13;2u".to_vec(),
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => "[a-z ]{1,4}".prop_map(Act::Type),
        1 => "[äß漢😀\\\\]{1,2}".prop_map(Act::Type),
        6 => Just(Act::Backspace),
        2 => Just(Act::KillLine),
        1 => Just(Act::Interrupt),
        3 => Just(Act::Enter),
        1 => Just(Act::NewLine),
        2 => Just(Act::Left),
        1 => Just(Act::Up),
        1 => Just(Act::Escape),
        1 => "[a-z\r]{1,6}".prop_map(Act::Paste),
        4 => (0..REPORTS.len()).prop_map(|at| Act::Report(REPORTS[at])),
        1 => proptest::char::range('a', 'z').prop_map(Act::ModernLetter),
        1 => Just(Act::ModernEnter),
        1 => Just(Act::ModernNewLine),
    ];
    proptest::collection::vec(act, 1..40)
}

/// A line editor as agents have one.
#[derive(Default)]
struct Editor {
    line: Vec<char>,
    cursor: usize,
    last: Vec<char>,
}

impl Editor {
    fn insert(&mut self, letter: char) {
        self.line.insert(self.cursor, letter);
        self.cursor += 1;
    }

    fn clear(&mut self) {
        self.line.clear();
        self.cursor = 0;
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Type(text) => text.chars().for_each(|letter| self.insert(letter)),
            Act::Paste(text) => text.replace('\r', "\n").chars().for_each(|c| self.insert(c)),
            Act::ModernLetter(letter) => self.insert(*letter),
            Act::NewLine | Act::ModernNewLine => self.insert('\n'),
            Act::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            // To the beginning of its row.
            Act::KillLine => {
                while self.cursor > 0 && self.line[self.cursor - 1] != '\n' {
                    self.cursor -= 1;
                    self.line.remove(self.cursor);
                }
            }
            Act::Interrupt => self.clear(),
            Act::Enter | Act::ModernEnter
                if self.line.get(self.cursor.wrapping_sub(1)) == Some(&'\\') =>
            {
                self.line[self.cursor - 1] = '\n';
            }
            Act::Enter | Act::ModernEnter => {
                self.last = self.line.clone();
                self.clear();
            }
            Act::Left => self.cursor = self.cursor.saturating_sub(1),
            Act::Up => {
                self.line = self.last.clone();
                self.cursor = self.line.len();
            }
            Act::Backspace | Act::Escape | Act::Report(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_line_is_empty(acts in acts(), cut in 1_usize..9) {
        let mut tracker = Tracker::default();
        let mut editor = Editor::default();
        let mut now = Instant::now();
        for act in &acts {
            editor.act(act);
            for piece in act.bytes().chunks(cut) {
                tracker.take(piece, now);
            }
            now += Duration::from_millis(100);
            if tracker.draft(now) == Draft::No {
                prop_assert!(editor.line.is_empty(), "{:?} after {acts:?}", editor.line);
            }
        }
    }

    #[test]
    fn reports_are_no_typing(reports in proptest::collection::vec(0..REPORTS.len(), 1..20), cut in 1_usize..9) {
        let mut tracker = Tracker::default();
        let now = Instant::now();
        let bytes: Vec<u8> = reports.iter().flat_map(|at| REPORTS[*at].bytes()).collect();
        for piece in bytes.chunks(cut) {
            prop_assert!(!tracker.take(piece, now));
        }
        prop_assert_eq!(tracker.draft(now), Draft::No);
        prop_assert_eq!(tracker.last_key(), None);
    }

    #[test]
    fn plain_letters_taken_back_leave_an_empty_line(text in "[a-z]{1,60}") {
        let mut tracker = Tracker::default();
        let now = Instant::now();
        tracker.take(text.as_bytes(), now);
        prop_assert_eq!(tracker.draft(now), Draft::Yes);
        tracker.take(&vec![0x7f; text.len() - 1], now);
        prop_assert_eq!(tracker.draft(now), Draft::Yes);
        tracker.take(&[0x7f], now);
        prop_assert_eq!(tracker.draft(now), Draft::No);
    }

    #[test]
    fn any_bytes_at_all_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut tracker = Tracker::default();
        let now = Instant::now();
        tracker.take(&bytes, now);
        tracker.draft(now + Duration::from_secs(1));
        tracker.forget();
    }
}

#[test]
fn a_word_that_enter_may_have_completed_leaves_a_doubt() {
    let now = Instant::now();
    let mut tracker = Tracker::default();
    tracker.take(b"look at @ma\r", now);
    assert_eq!(tracker.draft(now), Draft::Perhaps);
    tracker.take(b"\r", now);
    assert_eq!(tracker.draft(now), Draft::No);
}

#[test]
fn escape_on_an_empty_line_writes_nothing_and_its_beginning_is_half_a_key() {
    let at = |seconds| Instant::now() + Duration::from_secs(seconds);
    let mut tracker = Tracker::default();
    let now = at(0);
    tracker.take(b"\x1b", now);
    assert_eq!(tracker.draft(now), Draft::Yes, "something may follow");
    assert_eq!(tracker.draft(at(1)), Draft::Perhaps, "the screen says what it did");
    assert!(tracker.last_key().is_some(), "a human is there all the same");
    for key in [b"\x1b".as_slice(), b"\x1b[27u", b"\x7f"] {
        tracker.take(key, at(2));
        assert_eq!(tracker.draft(at(3)), Draft::Perhaps, "{key:?}");
    }
    tracker.take(b"\r", at(4));
    assert_eq!(tracker.draft(at(4)), Draft::Perhaps, "Enter may have taken an earlier line up");
    tracker.take(b"\x03", at(5));
    assert_eq!(tracker.draft(at(5)), Draft::No);
}

#[test]
fn escape_empties_no_line_and_what_is_typed_after_it_is_a_draft() {
    let at = |seconds| Instant::now() + Duration::from_secs(seconds);
    let mut tracker = Tracker::default();
    tracker.take(b"half a line", at(0));
    tracker.take(b"\x1b", at(1));
    assert_eq!(tracker.draft(at(2)), Draft::Yes);
    tracker.take(b"\x03", at(3));
    tracker.take(b"\x1b", at(4));
    tracker.take(b"u", at(5));
    assert_eq!(tracker.draft(at(5)), Draft::Yes, "it may have brought an earlier line back");
    tracker.take(b"\x7f", at(6));
    assert_eq!(tracker.draft(at(6)), Draft::Yes, "taking it back proves nothing then");
}
