//! Lines of bounded length from a stream.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Reads one line after the other and never holds more than the longest allowed one.
pub(crate) struct LineReader<R> {
    reader: R,
    line: Vec<u8>,
    line_bytes_max: usize,
    /// The rest of a line that was too long is still to come.
    skipping: bool,
}

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line; [`LineReader::take`] has it.
    Line,
    /// A line that is too long; what is left of it is passed over.
    TooLong,
    /// Nothing more.
    End,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, line_bytes_max: usize) -> Self {
        Self { reader, line: Vec::new(), line_bytes_max, skipping: false }
    }

    /// Reads a line. May be dropped while it waits: what was read stays.
    pub(crate) async fn read(&mut self) -> io::Result<Read> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                // A last line need not be ended.
                let is_end = self.line.is_empty() || self.skipping;
                return Ok(if is_end { Read::End } else { Read::Line });
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end + 1);
            let was_skipping = self.skipping;
            let too_long = self.line.len() + taken > self.line_bytes_max + 1;
            if !was_skipping && !too_long {
                self.line.extend_from_slice(read.get(..taken).unwrap_or_default());
            }
            self.reader.consume(taken);
            if was_skipping {
                self.skipping = end.is_none();
            } else if too_long {
                self.line.clear();
                self.skipping = end.is_none();
                return Ok(Read::TooLong);
            } else if end.is_some() {
                return Ok(Read::Line);
            }
        }
    }

    /// The line just read, with its end if it had one.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }
}
