//! Lines of bounded length from a stream.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::outline::Outline;

/// Reads one line after the other and never holds more than the longest allowed one.
pub(crate) struct LineReader<R> {
    reader: R,
    line: Vec<u8>,
    line_bytes_max: usize,
    /// Of a line that is too long, while the rest of it is still to come.
    skipped: Option<Outline>,
}

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line; [`LineReader::take`] has it.
    Line,
    /// A line that was too long and has been passed over; [`LineReader::take`] has its outline.
    TooLong,
    /// Nothing more.
    End,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, line_bytes_max: usize) -> Self {
        Self { reader, line: Vec::new(), line_bytes_max, skipped: None }
    }

    /// Reads a line. May be dropped while it waits: what was read stays.
    pub(crate) async fn read(&mut self) -> io::Result<Read> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                // A last line need not be ended.
                return Ok(match self.skipped.take() {
                    Some(outline) => self.passed_over(outline),
                    None if self.line.is_empty() => Read::End,
                    None => Read::Line,
                });
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end + 1);
            let piece = read.get(..taken).unwrap_or_default();
            if self.skipped.is_none() && self.line.len() + taken > self.line_bytes_max + 1 {
                let mut outline = Outline::default();
                outline.add(&self.line);
                self.line.clear();
                self.skipped = Some(outline);
            }
            match &mut self.skipped {
                Some(outline) => outline.add(piece),
                None => self.line.extend_from_slice(piece),
            }
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(match self.skipped.take() {
                    Some(outline) => self.passed_over(outline),
                    None => Read::Line,
                });
            }
        }
    }

    fn passed_over(&mut self, outline: Outline) -> Read {
        self.line = outline.end();
        Read::TooLong
    }

    /// The line just read, with its end if it had one, or the outline of one that was too long.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }
}
