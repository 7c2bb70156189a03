//! JSON-RPC, one message a line: the framing of standard input and of the private socket.
//!
//! rmcp has such a transport, but it drops lines that it cannot read. A client that waits for an
//! answer then waits for ever, so this one says what is wrong and goes on.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::failure;
use super::written::Written;
use crate::line_reader::{LineReader, Read};
use protocol::limits::mcp as limits;

/// The reading half, and the way to the writing half.
pub(super) struct Lines<R> {
    reader: LineReader<BufReader<R>>,
    line_bytes_max: usize,
    /// The first request that begins a conversation has been read.
    begun: bool,
    /// What to answer to the last line before the next is read.
    refusal: Option<Vec<u8>>,
    answers: Option<mpsc::Sender<Vec<u8>>>,
    /// Is cancelled when there is no more to read.
    ended: CancellationToken,
}

/// The writing half.
pub(super) struct Answers<W> {
    writer: W,
    queue: mpsc::Receiver<Vec<u8>>,
}

/// Reads and writes lines; `ended` is cancelled when there is no more to read.
pub(super) fn lines<R: AsyncRead + Unpin, W>(
    reader: R,
    writer: W,
    line_bytes_max: usize,
    ended: CancellationToken,
) -> (Lines<R>, Answers<W>) {
    let (answers, queue) = mpsc::channel(limits::ANSWERS_QUEUED_MAX);
    let lines = Lines {
        reader: LineReader::new(BufReader::new(reader), line_bytes_max),
        line_bytes_max,
        begun: false,
        refusal: None,
        answers: Some(answers),
        ended,
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

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The message on the line just read, if it is for the server.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.reader.take();
        let line = line.trim_ascii();
        let mut message = if line.is_empty() {
            None
        } else {
            let parsed = serde_json::from_slice::<ClientJsonRpcMessage>(line);
            parsed.map_err(|_| self.refusal = Some(framed(&failure::not_a_message(line)))).ok()
        };
        // Before a conversation has begun rmcp takes anything but a request for a reason to leave.
        if let Some(ClientJsonRpcMessage::Request(request)) = &mut message {
            if matches!(request.request, ClientRequest::CallToolRequest(_))
                && let Some(written) = Written::of(line)
            {
                request.request.extensions_mut().insert(written);
            }
            self.begun |= !matches!(
                request.request,
                ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
            );
            return message;
        }
        message.filter(|_| self.begun)
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
            match self.reader.read().await {
                Ok(Read::Line) => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Ok(Read::TooLong) => {
                    let refusal = failure::too_long(self.line_bytes_max, &self.reader.take());
                    self.refusal = Some(framed(&refusal));
                }
                Ok(Read::End) => {
                    self.ended.cancel();
                    return None;
                }
                Err(error) => {
                    tracing::debug!(%error, "the client's stream broke off");
                    self.ended.cancel();
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

/// An answer as a line.
pub(crate) fn framed(answer: &Value) -> Vec<u8> {
    let mut line = answer.to_string().into_bytes();
    line.push(b'\n');
    line
}
