//! The lines of a text, one at a time, whatever it is encoded in, however long they are.

use std::io::{self, BufRead, BufReader, Read};

use protocol::limits::import::LINE_BYTES_MAX;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// One line, without its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Counted from 1.
    pub(super) number: u64,
    /// It was longer than any honest line, and its end is missing.
    pub(super) is_cut: bool,
}

/// Reads lines.
pub(super) struct Lines<R: Read> {
    source: BufReader<Decoder<R>>,
    bytes: Vec<u8>,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source: BufReader::with_capacity(CHUNK_BYTES, Decoder::new(source)),
            bytes: Vec::new(),
            number: 0,
        }
    }

    /// How many bytes of the source have been read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.source.get_ref().bytes_read
    }

    /// Reads the next line into `line`; `false` at the end.
    pub(super) fn read(&mut self, line: &mut Line) -> io::Result<bool> {
        self.bytes.clear();
        line.text.clear();
        line.is_cut = false;
        let mut any = false;
        loop {
            let buffer = match self.source.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            any = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            let room = LINE_BYTES_MAX.saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(part.get(..room).unwrap_or(part));
            line.is_cut |= part.len() > room;
            let used = part.len() + usize::from(end.is_some());
            self.source.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(false);
        }
        self.number += 1;
        line.number = self.number;
        let bytes = self.bytes.strip_suffix(b"\r").unwrap_or(&self.bytes);
        line.text.push_str(&String::from_utf8_lossy(bytes));
        Ok(true)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Little,
    Utf16Big,
}

/// Turns any encoding in which a text may come into UTF-8.
struct Decoder<R: Read> {
    source: R,
    encoding: Option<Encoding>,
    /// Bytes that were read and not handed on yet.
    raw: Vec<u8>,
    /// The same as UTF-8.
    ready: Vec<u8>,
    given: usize,
    high: Option<u16>,
    bytes_read: u64,
}

impl<R: Read> Decoder<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            encoding: None,
            raw: Vec::new(),
            ready: Vec::new(),
            given: 0,
            high: None,
            bytes_read: 0,
        }
    }

    /// Reads on; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut chunk = [0_u8; 8 * 1024];
        let count = self.source.read(&mut chunk)?;
        self.bytes_read = self.bytes_read.saturating_add(count.try_into().unwrap_or(u64::MAX));
        self.raw.extend_from_slice(chunk.get(..count).unwrap_or_default());
        Ok(count > 0)
    }

    fn detect(&mut self) -> io::Result<Encoding> {
        while self.raw.len() < 4 && self.fill()? {}
        let (encoding, mark) = match self.raw.as_slice() {
            [0xff, 0xfe, ..] => (Encoding::Utf16Little, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16Big, 2),
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            // A bracket or a digit begins every export: without a mark, its empty half tells.
            [first, 0, _, 0, ..] if *first != 0 => (Encoding::Utf16Little, 0),
            [0, second, 0, _, ..] if *second != 0 => (Encoding::Utf16Big, 0),
            _ => (Encoding::Utf8, 0),
        };
        self.raw.drain(..mark);
        Ok(encoding)
    }

    fn push_unit(&mut self, unit: u16) {
        let units = self.high.take().into_iter().chain([unit]);
        if (0xd800..0xdc00).contains(&unit) && units.clone().count() == 1 {
            self.high = Some(unit);
            return;
        }
        let mut place = [0; 4];
        for decoded in char::decode_utf16(units) {
            let character = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.ready.extend_from_slice(character.encode_utf8(&mut place).as_bytes());
        }
    }

    fn decode(&mut self, encoding: Encoding) {
        if encoding == Encoding::Utf8 {
            std::mem::swap(&mut self.raw, &mut self.ready);
            return;
        }
        let raw = std::mem::take(&mut self.raw);
        let pairs = raw.chunks_exact(2);
        self.raw = pairs.remainder().to_vec();
        for pair in pairs {
            let pair = [*pair.first().unwrap_or(&0), *pair.last().unwrap_or(&0)];
            self.push_unit(match encoding {
                Encoding::Utf16Big => u16::from_be_bytes(pair),
                _ => u16::from_le_bytes(pair),
            });
        }
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let encoding = if let Some(encoding) = self.encoding {
            encoding
        } else {
            let detected = self.detect()?;
            *self.encoding.insert(detected)
        };
        while self.given >= self.ready.len() {
            self.ready.clear();
            self.given = 0;
            // What detecting left over comes first.
            let wanted = if encoding == Encoding::Utf8 { 1 } else { 2 };
            while self.raw.len() < wanted {
                if !self.fill()? {
                    return Ok(0);
                }
            }
            self.decode(encoding);
        }
        let waiting = self.ready.get(self.given..).unwrap_or_default();
        let count = waiting.len().min(buffer.len());
        if let (Some(target), Some(from)) = (buffer.get_mut(..count), waiting.get(..count)) {
            target.copy_from_slice(from);
        }
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        let mut line = Line::default();
        let mut all = Vec::new();
        while lines.read(&mut line).unwrap() {
            all.push(line.text.clone());
        }
        all
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn line_ends_and_marks_of_every_kind_are_taken_off() {
        assert_eq!(lines(b"\xef\xbb\xbfa\r\nb\nc"), ["a", "b", "c"]);
        assert_eq!(lines(b"a\n\nb\n"), ["a", "", "b"]);
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"7"), ["7"]);
    }

    #[test]
    fn utf_16_is_seen_with_and_without_a_mark() {
        let text = "[1] é\r\n𝄞 x\nend";
        for big in [false, true] {
            assert_eq!(lines(&utf16(text, big)), ["[1] é", "𝄞 x", "end"]);
            assert_eq!(lines(&utf16(&format!("\u{feff}{text}"), big)), ["[1] é", "𝄞 x", "end"]);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(lines(b"a\xffb"), ["a\u{fffd}b"]);
        let mut broken = utf16("\u{feff}ab", false);
        broken.extend([0x00, 0xd8, 0x41]);
        assert_eq!(lines(&broken), ["ab"]);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let mut lines = Lines::new(io::repeat(b'x').take(3_000_000).chain(&b"\nnext"[..]));
        let mut line = Line::default();
        assert!(lines.read(&mut line).unwrap());
        assert!(line.is_cut);
        assert_eq!(line.text.len(), LINE_BYTES_MAX);
        assert!(lines.read(&mut line).unwrap());
        assert_eq!((line.text.as_str(), line.number, line.is_cut), ("next", 2, false));
        assert_eq!(lines.bytes_read(), 3_000_005);
    }
}
