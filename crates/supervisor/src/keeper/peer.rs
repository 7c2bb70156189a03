//! One connection to a keeper: somebody who asks, or somebody who watches.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::frame::{self, Mark};
use crate::limits::{BACKLOG_BYTES_MAX, OUTPUT_BATCH_BYTES, REQUEST_BYTES_MAX, STALL_PATIENCE};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It asks, a line at a time.
    Asking,
    /// It watches.
    Watching,
    /// It watched, was too slow, and gets the whole screen once it has read the rest.
    Behind,
}

/// A connection.
pub(super) struct Peer {
    /// Its number, never used again.
    pub(super) id: u64,
    pub(super) stream: UnixStream,
    pub(super) role: Role,
    inbox: Vec<u8>,
    outbox: VecDeque<Vec<u8>>,
    /// Bytes of the first in the outbox that were sent.
    sent: usize,
    outbox_bytes: usize,
    stalled_since: Option<Instant>,
    pub(super) is_gone: bool,
}

impl Peer {
    pub(super) fn new(id: u64, stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            id,
            stream,
            role: Role::Asking,
            inbox: Vec::new(),
            outbox: VecDeque::new(),
            sent: 0,
            outbox_bytes: 0,
            stalled_since: None,
            is_gone: false,
        })
    }

    /// Reads what there is.
    pub(super) fn read(&mut self) {
        let mut buffer = [0; 8 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.is_gone = true,
            Ok(count) => self.inbox.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if is_later(&error) => {}
            Err(_) => self.is_gone = true,
        }
    }

    /// The next whole request.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.inbox.iter().position(|byte| *byte == b'\n') else {
            self.is_gone |= self.inbox.len() > REQUEST_BYTES_MAX;
            return None;
        };
        Some(self.inbox.drain(..=end).collect())
    }

    /// The next whole frame.
    pub(super) fn next_frame(&mut self) -> Option<(Mark, Vec<u8>)> {
        match frame::first(&self.inbox) {
            Ok(Some((mark, range))) => {
                let body = self.inbox.get(range.clone()).unwrap_or_default().to_vec();
                self.inbox.drain(..range.end);
                Some((mark, body))
            }
            Ok(None) => None,
            Err(_) => {
                self.is_gone = true;
                None
            }
        }
    }

    /// Sends bytes, now or when there is room.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.outbox.is_empty() {
            match self.stream.write(rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if is_later(&error) => {}
                Err(_) => self.is_gone = true,
            }
            if rest.is_empty() || self.is_gone {
                return;
            }
            // Whole, so that the first of the outbox is always a frame, sent in part.
            self.sent = bytes.len() - rest.len();
            self.outbox_bytes += rest.len();
            self.outbox.push_back(bytes.to_vec());
            return;
        }
        self.outbox_bytes += bytes.len();
        self.outbox.push_back(bytes.to_vec());
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) {
        while let Some(first) = self.outbox.front() {
            let rest = first.get(self.sent..).unwrap_or_default();
            match self.stream.write(rest) {
                Ok(count) => {
                    self.sent += count;
                    self.outbox_bytes = self.outbox_bytes.saturating_sub(count);
                    if self.sent >= first.len() {
                        self.outbox.pop_front();
                        self.sent = 0;
                    }
                }
                Err(error) if is_later(&error) => return,
                Err(_) => {
                    self.is_gone = true;
                    return;
                }
            }
        }
    }

    /// Whether something waits to be sent.
    pub(super) fn has_more(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Whether the program has to wait for this watcher. Who holds it up for too long is shown the
    /// screen anew instead.
    pub(super) fn holds_up(&mut self, now: Instant) -> bool {
        if self.role != Role::Watching || self.outbox_bytes < BACKLOG_BYTES_MAX {
            if self.outbox_bytes < BACKLOG_BYTES_MAX / 2 {
                self.stalled_since = None;
            }
            return false;
        }
        let since = *self.stalled_since.get_or_insert(now);
        if now.saturating_duration_since(since) < STALL_PATIENCE {
            return true;
        }
        self.role = Role::Behind;
        self.outbox.truncate(usize::from(self.sent > 0));
        self.outbox_bytes =
            self.outbox.front().map_or(0, |first| first.len().saturating_sub(self.sent));
        false
    }

    /// Whether a slow watcher has read all that was left for it.
    pub(super) fn caught_up(&self) -> bool {
        self.role == Role::Behind && self.outbox.is_empty()
    }

    /// Whether it sees what the program prints.
    pub(super) fn watches(&self) -> bool {
        self.role == Role::Watching
    }
}

/// A buffer for a batch of output, with room for the frame's head before it.
pub(super) fn output_buffer() -> Vec<u8> {
    vec![0; frame::HEAD_BYTES + OUTPUT_BATCH_BYTES]
}

pub(super) fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
