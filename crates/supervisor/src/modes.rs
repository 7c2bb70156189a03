//! Which modes of the terminal a program has switched on: what has to be undone when somebody stops
//! watching, and done again when somebody begins to.
//!
//! It reads every byte, also those that the model of the screen had to skip, so it is quick.

use std::collections::BTreeSet;

/// Modes that change what a terminal sends or where it draws. Drawing in one go (2026) is not among
/// them: it lasts for a moment.
const KEPT: [u16; 20] = [
    1, 7, 9, 25, 47, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1047, 1049,
    2004, 2031,
];
/// Modes that are on until somebody switches them off.
const ON_BY_DEFAULT: [u16; 2] = [7, 25];
/// Modes that are a screen of their own.
const OTHER_SCREENS: [u16; 3] = [47, 1047, 1049];
const PARAMETERS_MAX: usize = 48;
const KEYBOARDS_MAX: usize = 16;

fn append(text: &mut String, more: std::fmt::Arguments<'_>) {
    use std::fmt::Write;
    text.write_fmt(more).expect("writing to a string cannot fail");
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Sequence,
}

/// The modes of a terminal.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    state: State,
    parameters: Vec<u8>,
    /// Modes that are not as they are by default.
    changed: BTreeSet<u16>,
    /// What the program asked of the keyboard, the last on top.
    keyboards: Vec<u16>,
    application_keypad: bool,
}

impl Modes {
    /// Reads what a program prints.
    pub fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.state == State::Ground {
                let Some(at) = memchr::memchr(0x1b, rest) else { return };
                self.state = State::Escape;
                rest = rest.get(at + 1..).unwrap_or_default();
                continue;
            }
            let Some((byte, others)) = rest.split_first() else { return };
            self.step(*byte);
            rest = others;
        }
    }

    /// Whether pastes are to be marked as such.
    pub fn marks_pastes(&self) -> bool {
        self.is_changed(2004)
    }

    /// Whether the program draws on a screen of its own.
    pub fn on_other_screen(&self) -> bool {
        OTHER_SCREENS.iter().any(|mode| self.is_changed(*mode))
    }

    /// What puts a terminal back to where the program found it.
    pub fn undo(&self) -> Vec<u8> {
        let mut text = String::new();
        for _ in &self.keyboards {
            text.push_str("\x1b[<u");
        }
        for mode in self.changed.iter().rev() {
            let letter = if ON_BY_DEFAULT.contains(mode) { 'h' } else { 'l' };
            append(&mut text, format_args!("\x1b[?{mode}{letter}"));
        }
        if self.application_keypad {
            text.push_str("\x1b>");
        }
        if !text.is_empty() {
            text.push_str("\x1b[0m");
        }
        text.into_bytes()
    }

    /// What brings another terminal to where the program believes its own to be.
    pub fn again(&self) -> Vec<u8> {
        let mut text = String::new();
        for mode in &self.changed {
            let letter = if ON_BY_DEFAULT.contains(mode) { 'l' } else { 'h' };
            append(&mut text, format_args!("\x1b[?{mode}{letter}"));
        }
        if self.application_keypad {
            text.push_str("\x1b=");
        }
        for flags in &self.keyboards {
            append(&mut text, format_args!("\x1b[>{flags}u"));
        }
        text.into_bytes()
    }

    fn is_changed(&self, mode: u16) -> bool {
        self.changed.contains(&mode)
    }

    fn step(&mut self, byte: u8) {
        match (self.state, byte) {
            (_, 0x1b) => self.state = State::Escape,
            (State::Escape, b'[') => {
                self.parameters.clear();
                self.state = State::Sequence;
            }
            (State::Sequence, 0x40..=0x7e) => {
                self.sequence(byte);
                self.state = State::Ground;
            }
            (State::Sequence, 0x20..=0x3f) if self.parameters.len() < PARAMETERS_MAX => {
                self.parameters.push(byte);
            }
            (State::Escape, other) => {
                match other {
                    b'=' => self.application_keypad = true,
                    b'>' => self.application_keypad = false,
                    b'c' => *self = Self::default(),
                    _ => {}
                }
                self.state = State::Ground;
            }
            _ => self.state = State::Ground,
        }
    }

    fn sequence(&mut self, last: u8) {
        let Some((first, numbers)) = self.parameters.split_first() else { return };
        let numbers: Vec<u16> = numbers
            .split(|byte| *byte == b';')
            .map(|digits| std::str::from_utf8(digits).unwrap_or_default().parse().unwrap_or(0))
            .collect();
        let number = numbers.first().copied().unwrap_or(0);
        match (first, last) {
            (b'?', b'h' | b'l') => {
                for mode in numbers.into_iter().filter(|mode| KEPT.contains(mode)) {
                    if (last == b'h') == ON_BY_DEFAULT.contains(&mode) {
                        self.changed.remove(&mode);
                    } else {
                        self.changed.insert(mode);
                    }
                }
            }
            (b'>', b'u') if self.keyboards.len() < KEYBOARDS_MAX => self.keyboards.push(number),
            (b'<', b'u') => {
                let left = self.keyboards.len().saturating_sub(usize::from(number.max(1)));
                self.keyboards.truncate(left);
            }
            _ => {}
        }
    }
}
