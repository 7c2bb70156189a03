//! JSON-RPC by the line, over TCP or a Unix socket.

use std::time::Duration;

use connector_api::{ConnectorError, Result};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::endpoint::Endpoint;

/// What came out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// A line that was too large, and was passed over.
    TooLarge,
}

/// Puts lines together from pieces of any size.
#[derive(Debug)]
pub(super) struct LineParser {
    line: Vec<u8>,
    bytes_max: usize,
    is_too_large: bool,
}

impl LineParser {
    /// Takes lines of at most so many bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { line: Vec::new(), bytes_max, is_too_large: false }
    }

    /// Reads a piece; gives the lines it completed.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive(|&byte| byte == b'\n') {
            let (text, is_end) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            if self.line.len().saturating_add(text.len()) > self.bytes_max {
                self.is_too_large = true;
                self.line.clear();
            } else if !self.is_too_large {
                self.line.extend_from_slice(text);
            }
            if is_end {
                let line = std::mem::take(&mut self.line);
                if std::mem::take(&mut self.is_too_large) {
                    lines.push(Line::TooLarge);
                } else if !line.trim_ascii().is_empty() {
                    lines.push(Line::Whole(line));
                }
            }
        }
        lines
    }
}

/// A connection that speaks lines.
pub(super) struct LineStream {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    silence_max: Duration,
}

impl LineStream {
    /// Connects. Every wait on the connection is at most `silence_max` long.
    pub(super) async fn open(endpoint: &Endpoint, silence_max: Duration) -> Result<Self> {
        let connecting = async {
            match endpoint {
                Endpoint::Tcp(to) => TcpStream::connect(to).await.map(Self::parts),
                Endpoint::Unix(path) => UnixStream::connect(path).await.map(Self::parts),
                Endpoint::Http(_) => Err(std::io::ErrorKind::Unsupported.into()),
            }
        };
        let (reader, writer) = timeout(silence_max, connecting)
            .await
            .map_err(|_| not_reached("it does not answer"))?
            .map_err(|error| not_reached(&error.kind().to_string()))?;
        Ok(Self { reader, writer, silence_max })
    }

    fn parts<S: AsyncRead + AsyncWrite + Send + 'static>(
        stream: S,
    ) -> (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>) {
        let (reader, writer) = tokio::io::split(stream);
        (Box::new(reader), Box::new(writer))
    }

    /// Sends a request.
    pub(super) async fn write(&mut self, request: &Value) -> Result<()> {
        let line = format!("{request}\n");
        timeout(self.silence_max, self.writer.write_all(line.as_bytes()))
            .await
            .map_err(|_| unreachable("it takes nothing more"))?
            .map_err(|error| unreachable(&error.kind().to_string()))
    }

    /// The next piece; `None` when nothing came for half the time that silence may last.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match timeout(self.silence_max / 2, self.reader.read(buffer)).await {
            Err(_) => Ok(None),
            Ok(Ok(0)) => Err(unreachable("the daemon closed the connection")),
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            Ok(Err(error)) => Err(unreachable(&error.kind().to_string())),
        }
    }
}

/// No connection to the daemon came about.
fn not_reached(what: &str) -> ConnectorError {
    ConnectorError::NotReached { reason: format!("signal-cli: {what}") }
}

/// The daemon is out of reach, or broke off.
pub(super) fn unreachable(what: &str) -> ConnectorError {
    ConnectorError::Unreachable { reason: format!("signal-cli: {what}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_whole_from_any_pieces() {
        let mut parser = LineParser::new(100);
        assert_eq!(parser.push(b"{\"a\":"), []);
        assert_eq!(parser.push(b"1}\n\n{\"b\":2}\n{"), [line("{\"a\":1}"), line("{\"b\":2}")]);
    }

    #[test]
    fn a_line_that_is_too_large_is_passed_over() {
        let mut parser = LineParser::new(5);
        assert_eq!(parser.push(b"12345\n123"), [line("12345")]);
        assert_eq!(parser.push(b"456"), []);
        assert_eq!(parser.push(b"789\nok\n"), [Line::TooLarge, line("ok")]);
    }

    proptest! {
        #[test]
        fn cutting_changes_nothing(
            lines in prop::collection::vec("[a-z]{1,9}", 1..9),
            size in 1_usize..7,
        ) {
            let text = lines.join("\n") + "\n";
            let mut parser = LineParser::new(100);
            let found: Vec<Line> =
                text.as_bytes().chunks(size).flat_map(|piece| parser.push(piece)).collect();
            let expected: Vec<Line> = lines.iter().map(|text| line(text)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
