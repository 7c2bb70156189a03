//! What a terminal sends, a key at a time: letters, keys, pastes, and reports that nobody typed.

use std::time::{Duration, Instant};

use crate::limits::{ESCAPE_PATIENCE, REPORT_BYTES_MAX};

/// One thing that a terminal sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter.
    Letter(char),
    /// Enter, alone.
    Enter,
    /// Backspace, alone.
    Backspace,
    /// Ctrl and this lower-case letter or sign.
    Control(char),
    /// A character of a paste.
    Pasted,
    /// Escape, alone.
    Escape,
    /// Any other key: arrows, Tab, functions, Alt with something.
    Other,
    /// The terminal's own words: answers, focus, mouse, released keys.
    Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    /// ESC was last.
    Escape,
    /// Within `ESC [`.
    Sequence,
    /// Within `ESC O`.
    Single,
    /// Within OSC, DCS, APC, PM or SOS.
    Text,
    /// The same, and ESC was last.
    TextEscape,
    /// `ESC [ M`, and so many bytes are left.
    OldMouse(u8),
    /// Within a letter of several bytes, and so many are left.
    Letter(u8),
}

/// Reads keys from bytes, however they are cut.
#[derive(Clone, Debug)]
pub struct Keys {
    state: State,
    parameters: Vec<u8>,
    letter: u32,
    text_bytes: usize,
    in_paste: bool,
    last_byte: Option<Instant>,
}

impl Default for Keys {
    fn default() -> Self {
        let parameters = Vec::with_capacity(PARAMETERS_MAX);
        let state = State::Ground;
        Self { state, parameters, letter: 0, text_bytes: 0, in_paste: false, last_byte: None }
    }
}

/// Bytes of a control sequence that mean something to us.
const PARAMETERS_MAX: usize = 64;

impl Keys {
    /// Takes a byte; answers the keys that became whole by it, at most two.
    pub fn take(&mut self, byte: u8, now: Instant) -> [Option<Key>; 2] {
        let lone = self.settle(now);
        self.last_byte = Some(now);
        [lone, self.step(byte)]
    }

    /// Whether no key is half read. A lone ESC is one after a moment.
    pub fn is_between(&mut self, now: Instant) -> Result<(), Option<Key>> {
        match self.settle(now) {
            Some(key) => Err(Some(key)),
            None if self.state == State::Ground && !self.in_paste => Ok(()),
            None => Err(None),
        }
    }

    /// Whether the bytes are those of a paste.
    pub fn is_in_paste(&self) -> bool {
        self.in_paste
    }

    /// The Escape key, if that is what the ESC before was.
    fn settle(&mut self, now: Instant) -> Option<Key> {
        let waited =
            self.last_byte.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        if self.state == State::Escape && waited >= ESCAPE_PATIENCE {
            self.state = State::Ground;
            return Some(if self.in_paste { Key::Pasted } else { Key::Escape });
        }
        None
    }

    fn step(&mut self, byte: u8) -> Option<Key> {
        match self.state {
            State::Ground => self.ground(byte),
            State::Escape => self.escape(byte),
            State::Sequence => self.sequence(byte),
            State::Single => Some(self.end(Key::Other)),
            State::OldMouse(1) => Some(self.end(Key::Report)),
            State::OldMouse(left) => self.go(State::OldMouse(left - 1)),
            State::Text => self.text(byte),
            State::TextEscape if byte == b'\\' => Some(self.end(Key::Report)),
            State::TextEscape => {
                self.state = State::Text;
                self.text(byte)
            }
            State::Letter(left) => self.letter(byte, left),
        }
    }

    fn go(&mut self, state: State) -> Option<Key> {
        self.state = state;
        None
    }

    fn end(&mut self, key: Key) -> Key {
        self.state = State::Ground;
        if self.in_paste { Key::Pasted } else { key }
    }

    fn ground(&mut self, byte: u8) -> Option<Key> {
        let key = match byte {
            0x1b => return self.go(State::Escape),
            _ if self.in_paste => Key::Pasted,
            b'\r' => Key::Enter,
            0x7f | 0x08 => Key::Backspace,
            b'\t' => Key::Other,
            0x00..=0x1a => Key::Control(char::from(byte | 0x60)),
            0x1c..=0x1f => Key::Control(char::from(byte | 0x40)),
            0x20..=0x7e => Key::Letter(char::from(byte)),
            0xc2..=0xdf => return self.begin(u32::from(byte & 0x1f), 1),
            0xe0..=0xef => return self.begin(u32::from(byte & 0x0f), 2),
            0xf0..=0xf4 => return self.begin(u32::from(byte & 0x07), 3),
            _ => Key::Other,
        };
        Some(key)
    }

    fn begin(&mut self, bits: u32, left: u8) -> Option<Key> {
        self.letter = bits;
        self.go(State::Letter(left))
    }

    fn letter(&mut self, byte: u8, left: u8) -> Option<Key> {
        if byte & 0xc0 != 0x80 {
            // Not a letter of any encoding we know; what follows is read by itself, as far as it is
            // the beginning of something.
            self.state = State::Ground;
            self.ground(byte);
            return Some(Key::Other);
        }
        self.letter = self.letter << 6 | u32::from(byte & 0x3f);
        match left {
            1 => Some(self.end(char::from_u32(self.letter).map_or(Key::Other, Key::Letter))),
            left => self.go(State::Letter(left - 1)),
        }
    }

    fn escape(&mut self, byte: u8) -> Option<Key> {
        self.parameters.clear();
        self.text_bytes = 0;
        match byte {
            b'[' => self.go(State::Sequence),
            b'O' => self.go(State::Single),
            b']' | b'P' | b'_' | b'^' | b'X' => self.go(State::Text),
            0x1b => Some(if self.in_paste { Key::Pasted } else { Key::Escape }),
            _ => Some(self.end(Key::Other)),
        }
    }

    fn text(&mut self, byte: u8) -> Option<Key> {
        self.text_bytes += 1;
        match byte {
            0x07 => Some(self.end(Key::Report)),
            0x1b => self.go(State::TextEscape),
            // No terminal answers with so much: it was Alt with a bracket, and then typing.
            _ if self.text_bytes > REPORT_BYTES_MAX => Some(self.end(Key::Other)),
            _ => None,
        }
    }

    fn sequence(&mut self, byte: u8) -> Option<Key> {
        if !(0x40..=0x7e).contains(&byte) {
            if self.parameters.len() < PARAMETERS_MAX {
                self.parameters.push(byte);
            }
            return None;
        }
        if byte == b'M' && self.parameters.is_empty() {
            return self.go(State::OldMouse(3));
        }
        if self.in_paste {
            self.in_paste = self.parameters != b"201" || byte != b'~';
            self.state = State::Ground;
            return Some(Key::Pasted);
        }
        if self.parameters == b"200" && byte == b'~' {
            self.in_paste = true;
        }
        let key = sequence_key(&self.parameters, byte);
        Some(self.end(key))
    }
}

/// What a control sequence says.
fn sequence_key(parameters: &[u8], last: u8) -> Key {
    if let Some(b'?' | b'<' | b'>' | b'=') = parameters.first() {
        // Answers to questions, and the mouse of today.
        return Key::Report;
    }
    let text = String::from_utf8_lossy(parameters);
    let fields: Vec<&str> = text.split(';').collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or_default();
    match last {
        b'I' | b'O' if parameters.is_empty() => Key::Report,
        // Where the cursor is. F3 with a modifier looks the same in row 1, and is rare.
        b'R' if fields.len() == 2 => Key::Report,
        // What the terminal is, how it is, how large it is, which mode it is in, and its mouse.
        b'c' | b'n' | b't' | b'y' | b'M' => Key::Report,
        b'u' => modern_key(field(0), field(1)),
        b'~' if field(0) == "27" && fields.len() == 3 => modern_key(field(2), field(1)),
        _ if field(1).ends_with(":3") => Key::Report,
        _ => Key::Other,
    }
}

/// A key as `CODE` and `MODIFIERS:EVENT`, where 1 means no modifier and event 3 that it was let go.
fn modern_key(code: &str, modifiers: &str) -> Key {
    let code = code.split(':').next().and_then(|code| code.parse::<u32>().ok());
    let (modifiers, event) = modifiers.split_once(':').unwrap_or((modifiers, "1"));
    if event == "3" {
        return Key::Report;
    }
    // The locks say nothing about the key.
    let modifiers = modifiers.parse::<u32>().unwrap_or(1).saturating_sub(1) & 0x3f;
    match (code, modifiers) {
        (Some(13), 0) => Key::Enter,
        (Some(27), 0) => Key::Escape,
        (Some(127 | 8), 0) => Key::Backspace,
        // Shift, Control and their kin, pressed alone.
        (Some(57_441..=57_454 | 57_358..=57_360), _) => Key::Report,
        (Some(code), 0 | 1) if code >= 32 => {
            char::from_u32(code).filter(|c| !is_private(*c)).map_or(Key::Other, Key::Letter)
        }
        (Some(code), 4) => char::from_u32(code).map_or(Key::Other, Key::Control),
        _ => Key::Other,
    }
}

/// Whether a code stands for a key without a letter.
fn is_private(c: char) -> bool {
    c == '\u{7f}' || ('\u{e000}'..='\u{f8ff}').contains(&c)
}
