//! Cutting a JSON file into values without understanding them, in bounded memory.

use std::io::{Read, Seek, SeekFrom};

use connector_api::ImportError;
use protocol::limits;

/// How much is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Why the reading cannot go on.
#[derive(Debug)]
pub(super) enum Broken {
    /// The file cannot be read.
    Read(std::io::Error),
    /// The file ends where it should go on.
    Ended,
    /// Something else stands where a bracket, a comma or a name should.
    Wrong { at: u64, expected: &'static str },
    /// Whoever takes the facts cannot go on.
    Stopped(ImportError),
}

impl From<ImportError> for Broken {
    fn from(error: ImportError) -> Self {
        Self::Stopped(error)
    }
}

/// A value that was cut out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// It was larger than anything honest, and was passed over.
    TooLarge,
}

/// Reads a file from value to value.
pub(super) struct Scanner<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The next byte to be looked at, in the buffer.
    start: usize,
    /// Where the buffer begins, in the file.
    offset: u64,
}

impl<R: Read + Seek> Scanner<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, offset: 0 }
    }

    /// Where the reading stands, in bytes.
    pub(super) fn position(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Goes back, or on, to a place.
    pub(super) fn go_to(&mut self, position: u64) -> Result<(), Broken> {
        self.reader.seek(SeekFrom::Start(position)).map_err(Broken::Read)?;
        self.buffer.clear();
        self.start = 0;
        self.offset = position;
        Ok(())
    }

    /// The next byte that is not blank, which stays where it is.
    pub(super) fn peek(&mut self) -> Result<u8, Broken> {
        loop {
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            let found = rest.iter().enumerate().find(|(_, byte)| !byte.is_ascii_whitespace());
            if let Some((blanks, byte)) = found {
                let byte = *byte;
                self.start += blanks;
                return Ok(byte);
            }
            self.start = self.buffer.len();
            self.fill()?;
        }
    }

    /// Takes the next byte if it is this one.
    pub(super) fn took(&mut self, byte: u8) -> Result<bool, Broken> {
        let is_there = self.peek()? == byte;
        if is_there {
            self.start += 1;
        }
        Ok(is_there)
    }

    /// Takes this byte, or says what was expected.
    pub(super) fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Broken> {
        if self.took(byte)? { Ok(()) } else { Err(self.wrong(expected)) }
    }

    pub(super) fn wrong(&self, expected: &'static str) -> Broken {
        Broken::Wrong { at: self.position(), expected }
    }

    /// Skips the mark that some programs put at the beginning of a file.
    pub(super) fn skip_mark(&mut self) -> Result<(), Broken> {
        self.peek()?;
        if self.buffer.get(self.start..).is_some_and(|rest| rest.starts_with(b"\xef\xbb\xbf")) {
            self.start += 3;
        }
        Ok(())
    }

    /// Cuts out the next value.
    pub(super) fn value(&mut self) -> Result<Cut<'_>, Broken> {
        let mut extent = Extent::of(self.peek()?);
        let mut seen = 0;
        loop {
            let rest = self.buffer.get(self.start + seen..).unwrap_or_default();
            if let Some(end) = extent.feed(rest) {
                let from = self.start;
                self.start += seen + end;
                return Ok(Cut::Whole(self.buffer.get(from..self.start).unwrap_or_default()));
            }
            seen += rest.len();
            if seen > limits::chats::TELEGRAM_IMPORT_RECORD_BYTES_MAX {
                self.start += seen;
                self.pass(extent)?;
                return Ok(Cut::TooLarge);
            }
            if let Err(broken) = self.fill() {
                // A number at the very end has no end of its own.
                self.start += seen;
                return Err(broken);
            }
        }
    }

    /// Passes over the next value, however large.
    pub(super) fn skip(&mut self) -> Result<(), Broken> {
        let extent = Extent::of(self.peek()?);
        self.pass(extent)
    }

    fn pass(&mut self, mut extent: Extent) -> Result<(), Broken> {
        loop {
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            if let Some(end) = extent.feed(rest) {
                self.start += end;
                return Ok(());
            }
            self.start = self.buffer.len();
            self.fill()?;
        }
    }

    /// Reads on. What was looked at already is forgotten.
    fn fill(&mut self) -> Result<(), Broken> {
        self.offset += self.start as u64;
        self.buffer.drain(..self.start.min(self.buffer.len()));
        self.start = 0;
        let had = self.buffer.len();
        self.buffer.resize(had + CHUNK_BYTES, 0);
        let room = self.buffer.get_mut(had..).unwrap_or_default();
        let read = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let got = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(had + got);
        match read {
            Ok(0) => Err(Broken::Ended),
            Ok(_) => Ok(()),
            Err(error) => Err(Broken::Read(error)),
        }
    }
}

/// How far a value reaches, found piece by piece.
#[derive(Debug)]
struct Extent {
    shape: Shape,
    depth: u64,
    is_in_text: bool,
    is_escaped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Nested,
    Text,
    Bare,
}

impl Extent {
    fn of(first: u8) -> Self {
        let shape = match first {
            b'{' | b'[' => Shape::Nested,
            b'"' => Shape::Text,
            _ => Shape::Bare,
        };
        Self { shape, depth: 0, is_in_text: false, is_escaped: false }
    }

    /// Looks at the next piece; answers where the value ends in it.
    fn feed(&mut self, piece: &[u8]) -> Option<usize> {
        if self.shape == Shape::Bare {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            return piece.iter().position(is_end);
        }
        let mut at = 0;
        while at < piece.len() {
            at = if self.is_in_text { self.in_text(piece, at) } else { self.outside(piece, at) };
            if self.depth == 0 && !self.is_in_text && at > 0 {
                return Some(at);
            }
        }
        None
    }

    /// Goes on in a text, to behind its end.
    fn in_text(&mut self, piece: &[u8], at: usize) -> usize {
        if self.is_escaped {
            self.is_escaped = false;
            return at + 1;
        }
        let rest = piece.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(found) => {
                let is_escape = rest.get(found) == Some(&b'\\');
                self.is_escaped = is_escape;
                self.is_in_text = is_escape;
                at + found + 1
            }
            None => piece.len(),
        }
    }

    /// Goes on between texts, to behind the next quote or the end of the value.
    fn outside(&mut self, piece: &[u8], at: usize) -> usize {
        let rest = piece.get(at..).unwrap_or_default();
        for (index, byte) in rest.iter().enumerate() {
            match byte {
                b'"' => {
                    self.is_in_text = true;
                    return at + index + 1;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return at + index + 1;
                    }
                }
                _ => {}
            }
        }
        piece.len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn scanner(text: &str) -> Scanner<Cursor<Vec<u8>>> {
        Scanner::new(Cursor::new(text.as_bytes().to_vec()))
    }

    #[test]
    fn values_are_cut_at_their_ends() {
        let text = r#" {"a": "}\"]\\"} , [1, [2]] "x\"y" 12 ,true]"#;
        let mut scanner = scanner(text);
        for expected in [r#"{"a": "}\"]\\"}"#, "[1, [2]]", r#""x\"y""#, "12", "true"] {
            assert_eq!(scanner.value().unwrap(), Cut::Whole(expected.as_bytes()));
            scanner.took(b',').unwrap();
        }
        assert_eq!(scanner.peek().unwrap(), b']');
    }

    #[test]
    fn a_value_larger_than_a_chunk_is_cut_whole() {
        let long = "\\\"x".repeat(CHUNK_BYTES);
        let text = format!("[{{\"a\": \"{long}\"}}, 7]");
        let mut scanner = scanner(&text);
        assert!(scanner.took(b'[').unwrap());
        let expected = format!("{{\"a\": \"{long}\"}}");
        assert_eq!(scanner.value().unwrap(), Cut::Whole(expected.as_bytes()));
        assert!(scanner.took(b',').unwrap());
        assert_eq!(scanner.value().unwrap(), Cut::Whole(b"7"));
    }

    #[test]
    fn a_value_larger_than_anything_honest_is_passed_over() {
        let long = "x".repeat(limits::chats::TELEGRAM_IMPORT_RECORD_BYTES_MAX + CHUNK_BYTES);
        let mut scanner = scanner(&format!("\"{long}\", 7]"));
        assert_eq!(scanner.value().unwrap(), Cut::TooLarge);
        assert!(scanner.took(b',').unwrap());
        assert_eq!(scanner.value().unwrap(), Cut::Whole(b"7"));
        assert!(scanner.buffer.capacity() < long.len() * 3);
    }

    #[test]
    fn a_large_file_is_never_held_whole() {
        let one = format!("{{\"text\": \"{}\"}},", "x".repeat(500));
        let mut scanner = scanner(&format!("[{}]", one.repeat(10_000)));
        assert!(scanner.took(b'[').unwrap());
        for _ in 0..10_000 {
            assert!(
                matches!(scanner.value(), Ok(Cut::Whole(value)) if value.len() + 1 == one.len())
            );
            assert!(scanner.took(b',').unwrap());
            assert!(scanner.buffer.capacity() <= 4 * CHUNK_BYTES);
        }
        assert!(scanner.took(b']').unwrap());
    }

    #[test]
    fn a_cut_file_has_ended() {
        let mut scanner = scanner("{\"a\": [1, 2");
        assert!(matches!(scanner.value(), Err(Broken::Ended)));
    }
}
