//! `waystation mcp`: stdio on one side, the owner's MCP socket on the other.
//!
//! The owner may be killed and another one started. The bridge remembers the handshake and the
//! subscriptions, plays them again to the new owner, and sends what was not answered once more if
//! doing it twice is harmless; anything else is answered with an error that says so. What an owner
//! asked the client is withdrawn when that owner goes.

mod memory;
mod questions;

use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use protocol::limits;
use protocol::limits::mcp::LAST_ANSWERS_TIMEOUT;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use crate::line_reader::{LineReader, Read};
use crate::mcp;
use memory::Memory;

/// Owners in a row that said nothing before they went; then the bridge gives up.
const SILENT_OWNERS_MAX: u32 = 8;
/// The pause after the first of them; it doubles with each.
const SILENT_OWNER_PAUSE: Duration = Duration::from_millis(50);

/// One connection to an owner, after the greeting.
pub struct Connection<R, W> {
    /// Lines from the owner.
    pub read: R,
    /// Lines to the owner.
    pub write: W,
}

/// How a bridge reaches an owner; it may start one.
pub trait Connect {
    /// Lines from the owner.
    type Read: AsyncBufRead + Unpin;
    /// Lines to the owner.
    type Write: AsyncWrite + Unpin;

    /// Connects, or says in a sentence why it cannot.
    fn connect(
        &mut self,
    ) -> impl Future<Output = Result<Connection<Self::Read, Self::Write>, String>>;
}

/// Stdio on one side, an owner on the other.
pub struct Bridge<I, O> {
    /// What it writes must outlive the owner it was meant for, so the reader is ours.
    input: LineReader<I>,
    output: O,
    /// What the client has yet to take. A line that was begun is finished, whatever happens.
    to_client: BytesMut,
    memory: Memory,
}

enum Ended {
    /// The client has nothing more to say, and has heard everything.
    Client,
    /// The owner went away; whether it had said anything.
    Owner { heard: bool },
}

impl<I: AsyncBufRead + Unpin, O: AsyncWrite + Unpin> Bridge<I, O> {
    /// A bridge for a client that writes to `input` and reads from `output`.
    pub fn new(input: I, output: O) -> Self {
        Self {
            input: LineReader::new(input, limits::BODY_BYTES_MAX),
            output,
            to_client: BytesMut::new(),
            memory: Memory::default(),
        }
    }

    /// Carries messages until the client ends its input, or no owner can be reached any more.
    pub async fn run(mut self, owner: impl Connect) -> Result<(), String> {
        let ended = self.carry_on(owner).await;
        if let Err(reason) = &ended {
            self.give_up(reason).await;
        }
        ended
    }

    async fn carry_on(&mut self, mut owner: impl Connect) -> Result<(), String> {
        let mut silent = 0;
        loop {
            let connection = owner.connect().await?;
            match self.carry(connection).await {
                Ok(Ended::Client) => return Ok(()),
                Ok(Ended::Owner { heard }) => silent = if heard { 0 } else { silent + 1 },
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(format!("cannot speak with the client: {error}")),
            }
            if silent >= SILENT_OWNERS_MAX {
                return Err(format!(
                    "the hub was started {silent} times and went away at once each time; its log says why"
                ));
            }
            tracing::info!("the hub went away; connecting again");
            if let Some(doublings) = silent.checked_sub(1) {
                tokio::time::sleep(SILENT_OWNER_PAUSE * 2_u32.pow(doublings)).await;
            }
        }
    }

    /// Tells the client of everything it waits for that there will be no answer.
    async fn give_up(&mut self, reason: &str) {
        self.memory.give_up(reason, &mut self.to_client);
        let told = async {
            self.output.write_all(&self.to_client).await?;
            self.output.flush().await
        };
        // A client that no longer reads must not hold us.
        match tokio::time::timeout(LAST_ANSWERS_TIMEOUT, told).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the client is gone as well"),
            Err(_) => tracing::debug!("the client does not read what it waits for"),
        }
    }

    /// Carries messages until one side ends; an error is the client's.
    async fn carry<R, W>(&mut self, connection: Connection<R, W>) -> io::Result<Ended>
    where
        R: AsyncBufRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let Connection { read: mut from_owner, write: mut owner } = connection;
        let mut to_owner = BytesMut::new();
        self.memory.resume(&mut to_owner, &mut self.to_client);
        let mut line = Vec::new();
        let mut input_ended = false;
        let mut heard = false;
        let gone = |heard| Ok(Ended::Owner { heard });
        // Each side is read only while nothing waits to be written to the other, and neither write
        // keeps the other direction waiting.
        loop {
            tokio::select! {
                read = self.input.read(), if !input_ended && to_owner.is_empty() => match read? {
                    Read::Line => {
                        let mut line = self.input.take();
                        if line.last() != Some(&b'\n') {
                            line.push(b'\n');
                        }
                        self.memory.pass_in(line, &mut to_owner);
                    }
                    Read::TooLong => {
                        let outline = self.input.take();
                        let refusal = mcp::too_long(limits::BODY_BYTES_MAX, &outline);
                        self.to_client.extend_from_slice(&mcp::framed(&refusal));
                    }
                    Read::End => {
                        input_ended = true;
                        self.memory.note_end();
                        if owner.shutdown().await.is_err() {
                            return gone(heard);
                        }
                    }
                },
                written = owner.write(&to_owner), if !to_owner.is_empty() => match written {
                    Ok(bytes @ 1..) => to_owner.advance(bytes),
                    _ => return gone(heard),
                },
                read = from_owner.read_until(b'\n', &mut line), if self.to_client.is_empty() => {
                    // A line that breaks off was never said: its request is asked again.
                    if read.is_err() || line.last() != Some(&b'\n') {
                        return if input_ended { Ok(Ended::Client) } else { gone(heard) };
                    }
                    heard = true;
                    self.memory.pass_out(&line, &mut self.to_client);
                    line.clear();
                }
                written = self.output.write(&self.to_client), if !self.to_client.is_empty() => {
                    match written? {
                        0 => return Err(io::ErrorKind::BrokenPipe.into()),
                        bytes => self.to_client.advance(bytes),
                    }
                    if self.to_client.is_empty() {
                        self.output.flush().await?;
                    }
                }
            }
        }
    }
}
