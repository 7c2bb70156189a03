//! Whether the human at a terminal has something half typed.
//!
//! A draft is text that stands on the line. Only what is certain empties it: Enter, Ctrl-C, or taking
//! back exactly what was typed. Whoever used a key that can fill the line from elsewhere, such as an
//! arrow, has a draft until it is sent. Escape on an empty line writes nothing: it stops a turn or
//! closes a dialog, and the screen says what stands there then.

use std::time::{Duration, Instant};

use crate::keys::{Key, Keys};
use crate::limits::DRAFT_CHARS_MAX;

/// What is known of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// It is empty.
    No,
    /// Enter was pressed where it may have completed a word instead of sending the line, or Escape on
    /// an empty one; a look at the screen decides.
    Perhaps,
    /// There is something on it, or may be.
    Yes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Empty,
    /// So many letters, and the cursor behind them.
    Letters(usize),
    /// Sent, or completed.
    Doubtful,
    /// Escape was pressed on an empty line.
    Escaped,
    /// Something.
    Something,
}

/// Follows what a human types.
#[derive(Clone, Debug)]
pub struct Tracker {
    keys: Keys,
    line: Line,
    /// Whether Enter may do something else than sending the line: complete a command or the name of
    /// a file, or begin another row.
    completes: bool,
    last_key: Option<Instant>,
    last_letter: Option<char>,
}

impl Default for Tracker {
    fn default() -> Self {
        let keys = Keys::default();
        Self { keys, line: Line::Empty, completes: false, last_key: None, last_letter: None }
    }
}

impl Tracker {
    /// Takes what the terminal sent; `true` when a human typed some of it.
    pub fn take(&mut self, bytes: &[u8], now: Instant) -> bool {
        let mut typed = false;
        for byte in bytes {
            for key in self.keys.take(*byte, now).into_iter().flatten() {
                typed |= self.key(key, now);
            }
        }
        typed
    }

    /// Whether something is on the line, or a key is half sent.
    pub fn draft(&mut self, now: Instant) -> Draft {
        match self.keys.is_between(now) {
            Ok(()) => {}
            Err(None) => return Draft::Yes,
            Err(Some(key)) => {
                self.key(key, now);
            }
        }
        match self.line {
            Line::Empty => Draft::No,
            Line::Doubtful | Line::Escaped => Draft::Perhaps,
            Line::Letters(_) | Line::Something => Draft::Yes,
        }
    }

    /// How long ago a human typed; `None` when nobody has.
    pub fn quiet_for(&self, now: Instant) -> Option<Duration> {
        self.last_key.map(|last| now.saturating_duration_since(last))
    }

    /// When a human typed last.
    pub fn last_key(&self) -> Option<Instant> {
        self.last_key
    }

    /// Something is on the line that no human typed.
    pub fn suspect(&mut self) {
        self.line = Line::Something;
    }

    /// The program is another one: its line is empty.
    pub fn forget(&mut self) {
        self.line = Line::Empty;
        self.completes = false;
        self.last_letter = None;
    }

    fn key(&mut self, key: Key, now: Instant) -> bool {
        if key == Key::Report {
            return false;
        }
        self.last_key = Some(now);
        let before = self.last_letter.take();
        self.line = match (key, self.line) {
            (Key::Letter(letter), line) => {
                let begins = line == Line::Empty || before == Some(' ');
                // A backslash makes Enter a part of the line.
                self.completes |= letter == '\\' || (begins && matches!(letter, '@' | '/'));
                self.last_letter = Some(letter);
                match line {
                    // Some programs take back a byte where others take back a letter.
                    _ if !letter.is_ascii() => Line::Something,
                    Line::Empty => Line::Letters(1),
                    Line::Letters(count) if count < DRAFT_CHARS_MAX => Line::Letters(count + 1),
                    _ => Line::Something,
                }
            }
            // Nobody knows what stands on a line that came from elsewhere, nor what Escape had opened:
            // some programs choose an earlier line with it, and Enter takes that up.
            (Key::Enter, Line::Something | Line::Escaped) => {
                self.completes = false;
                Line::Doubtful
            }
            (Key::Enter, Line::Letters(_)) if self.completes => {
                self.completes = false;
                Line::Doubtful
            }
            (Key::Enter | Key::Control('c'), _)
            | (Key::Control('u') | Key::Backspace, Line::Empty)
            // It takes what stands before the cursor in its row: here, and only here, all.
            | (Key::Control('u'), Line::Letters(_))
            | (Key::Backspace, Line::Letters(1)) => {
                self.completes = false;
                Line::Empty
            }
            (Key::Backspace, Line::Letters(count)) => Line::Letters(count - 1),
            // Letters that follow may be commands: then it is no longer known what they made.
            (Key::Escape, Line::Empty | Line::Doubtful | Line::Escaped)
            | (Key::Backspace | Key::Control('u'), Line::Escaped) => Line::Escaped,
            // The first takes nothing at the end of a line, and ends the program on an empty one; the
            // others stop the program or its output, or paint it anew.
            (Key::Control('d'), line @ (Line::Empty | Line::Letters(_)))
            | (Key::Control('z' | 'l' | 'q' | 's'), line) => line,
            _ => Line::Something,
        };
        true
    }
}
