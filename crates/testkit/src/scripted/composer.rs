//! The line that is being typed.

/// What a byte meant.
pub(super) enum Told {
    /// Nothing yet, or nothing that changes anything but the line.
    Nothing,
    /// A letter of the line.
    Letter,
    /// The line is sent.
    Line(String),
    /// Ctrl-Z.
    Stop,
    /// Ctrl-D on an empty line.
    End,
}

/// The line that is being typed.
#[derive(Debug, Default)]
pub(super) struct Composer {
    line: Vec<u8>,
    escape: Vec<u8>,
    in_paste: bool,
}

impl Composer {
    /// The line.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.line).replace('\n', "⏎")
    }

    /// Takes a byte; `soon` when it comes right behind a letter.
    pub(super) fn take(&mut self, byte: u8, soon: bool) -> Told {
        if !self.escape.is_empty() || byte == 0x1b {
            if byte == 0x1b && self.escape.len() == 1 {
                // The one before was the key itself.
                self.escape.clear();
            }
            self.escape.push(byte);
            return self.sequence();
        }
        match byte {
            b'\r' if self.in_paste || soon => self.line.push(b'\n'),
            b'\r' => {
                let line = String::from_utf8_lossy(&self.line).into_owned();
                self.line.clear();
                // An empty line is sent nowhere, as with agents.
                if !line.is_empty() {
                    return Told::Line(line);
                }
            }
            0x7f | 0x08 => while self.line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            0x03 | 0x15 => self.line.clear(),
            0x04 if self.line.is_empty() => return Told::End,
            0x1a => return Told::Stop,
            b'\n' => self.line.push(b'\n'),
            byte if byte >= 0x20 => {
                self.line.push(byte);
                return Told::Letter;
            }
            _ => {}
        }
        Told::Nothing
    }

    /// Reads sequences to their end, and heeds the marks of a paste alone.
    fn sequence(&mut self) -> Told {
        let is_whole = match self.escape.as_slice() {
            [_] | [_, b'[' | b'O' | b']' | b'P'] => false,
            [_, b'[', .., last] => (0x40..=0x7e).contains(last),
            [_, b']' | b'P', .., last] => *last == 0x07 || self.escape.ends_with(b"\x1b\\"),
            _ => true,
        };
        if !is_whole {
            return Told::Nothing;
        }
        match self.escape.as_slice() {
            b"\x1b[200~" => self.in_paste = true,
            b"\x1b[201~" => self.in_paste = false,
            _ => {}
        }
        self.escape.clear();
        Told::Nothing
    }
}
