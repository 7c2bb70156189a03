//! JSON-RPC, one message a line: the framing of standard input and of the private socket.
//!
//! rmcp has such a transport, but it drops lines that it cannot read. A client that waits for an
//! answer then waits for ever, so this one says what is wrong and goes on.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use super::failure;
use protocol::limits::mcp as limits;

/// The reading half, and the way to the writing half.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    line_bytes_max: usize,
    /// The rest of a line that was too long is still to come.
    skipping: bool,
    /// The first request that begins a conversation has been read.
    begun: bool,
    /// What to answer to the last line before the next is read.
    refusal: Option<Vec<u8>>,
    answers: Option<mpsc::Sender<Vec<u8>>>,
}

/// The writing half.
pub(super) struct Answers<W> {
    writer: W,
    queue: mpsc::Receiver<Vec<u8>>,
}

/// Reads and writes lines.
pub(super) fn lines<R: AsyncRead, W>(
    reader: R,
    writer: W,
    line_bytes_max: usize,
) -> (Lines<R>, Answers<W>) {
    let (answers, queue) = mpsc::channel(limits::ANSWERS_QUEUED_MAX);
    let lines = Lines {
        reader: BufReader::new(reader),
        line: Vec::new(),
        line_bytes_max,
        skipping: false,
        begun: false,
        refusal: None,
        answers: Some(answers),
    };
    (lines, Answers { writer, queue })
}

impl<W: AsyncWrite + Unpin> Answers<W> {
    /// Writes every answer, until there can be no more or nobody reads them.
    pub(super) async fn write(mut self) -> io::Result<()> {
        while let Some(answer) = self.queue.recv().await {
            self.writer.write_all(&answer).await?;
            while let Ok(answer) = self.queue.try_recv() {
                self.writer.write_all(&answer).await?;
            }
            self.writer.flush().await?;
        }
        self.writer.shutdown().await
    }
}

enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads a line into `self.line`. May be dropped while it waits: what was read stays.
    async fn read(&mut self) -> io::Result<Read> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                // A last line need not be ended.
                return Ok(if self.line.is_empty() || self.skipping {
                    Read::End
                } else {
                    Read::Line
                });
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

    /// The message on the line just read, if it is for the server.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.trim_ascii();
        let message = if line.is_empty() {
            None
        } else {
            let parsed = serde_json::from_slice::<ClientJsonRpcMessage>(line);
            parsed.map_err(|_| self.refusal = Some(framed(&failure::not_a_message(line)))).ok()
        };
        self.line.clear();
        // Before a conversation has begun rmcp takes anything but a request for a reason to leave.
        if let Some(ClientJsonRpcMessage::Request(request)) = &message {
            self.begun |= !matches!(
                request.request,
                ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
            );
            return message;
        }
        message.filter(|_| self.begun)
    }

    fn too_long(&self) -> Vec<u8> {
        let message =
            format!("Invalid Request: the message is larger than {} bytes", self.line_bytes_max);
        framed(&failure::envelope(&Value::Null, ErrorCode::INVALID_REQUEST.0, &message))
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = self.answers.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            answers.ok_or_else(gone)?.send(line).await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // This future is dropped whenever something else happens, so each step either waits or
            // changes something, never both.
            if self.refusal.is_some() {
                let place = self.answers.as_ref()?.reserve().await.ok()?;
                if let Some(refusal) = self.refusal.take() {
                    place.send(refusal);
                }
            }
            match self.read().await {
                Ok(Read::Line) => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Ok(Read::TooLong) => self.refusal = Some(self.too_long()),
                Ok(Read::End) => return None,
                Err(error) => {
                    tracing::debug!(%error, "the client's stream broke off");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.answers = None;
        Ok(())
    }
}

fn framed(answer: &Value) -> Vec<u8> {
    let mut line = answer.to_string().into_bytes();
    line.push(b'\n');
    line
}
