//! The bytes of one connection. What it says first tells which HTTP it speaks, and a client that takes
//! nothing of what is written to it is given up.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use protocol::limits;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, timeout};

/// What every client of HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Which HTTP a connection speaks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// The bytes of one connection.
pub(super) struct Line<S> {
    /// What was read to learn the version, and is to be read again.
    first: Bytes,
    stream: S,
    traffic: Arc<Traffic>,
    /// Rings when the client has taken nothing for too long. Most clients never make it wait.
    alarm: Option<Pin<Box<Sleep>>>,
}

/// What went over a line; the line alone writes it down.
#[derive(Default)]
pub(super) struct Traffic {
    was_heard: AtomicBool,
    bytes_written: AtomicU64,
}

impl Traffic {
    /// Whether the client said anything since that was forgotten.
    pub(super) fn was_heard(&self) -> bool {
        self.was_heard.load(Ordering::Relaxed)
    }

    pub(super) fn forget_what_was_heard(&self) {
        self.was_heard.store(false, Ordering::Relaxed);
    }

    pub(super) fn bytes_written(&self) -> u64 {
        self.bytes_written.load(Ordering::Relaxed)
    }

    fn hear(&self) {
        self.was_heard.store(true, Ordering::Relaxed);
    }

    fn write(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        // Nobody else writes, so this need not be one step.
        self.bytes_written.store(self.bytes_written().saturating_add(bytes), Ordering::Relaxed);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    /// Waits until the client has said enough to know which HTTP it speaks.
    pub(super) async fn open(mut stream: S) -> io::Result<(Version, Self)> {
        let mut first = BytesMut::with_capacity(PREFACE.len());
        timeout(limits::CONNECTION_TIMEOUT, stream.read_buf(&mut first)).await??;
        let rest = async {
            while may_be_http2(&first) && stream.read_buf(&mut first).await? > 0 {}
            io::Result::Ok(())
        };
        timeout(limits::HEADER_READ_TIMEOUT, rest).await??;
        let is_http2 = first.starts_with(PREFACE);
        let first = first.freeze();
        let line = Self { first, stream, traffic: Arc::default(), alarm: None };
        Ok((if is_http2 { Version::Http2 } else { Version::Http1 }, line))
    }
}

/// Whether the rest of the preface may be still to come.
fn may_be_http2(first: &[u8]) -> bool {
    !first.is_empty() && first.len() < PREFACE.len() && PREFACE.starts_with(first)
}

impl<S> Line<S> {
    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// Passes on what became of a write, and gives up a client that makes it wait for too long.
    fn watched<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.alarm = None;
            return written;
        }
        let alarm = || Box::pin(tokio::time::sleep(limits::WRITE_STALL_TIMEOUT));
        let late = self.alarm.get_or_insert_with(alarm).as_mut().poll(context);
        late.map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        if !line.first.is_empty() {
            let count = line.first.len().min(buffer.remaining());
            buffer.put_slice(&line.first.split_to(count));
            line.traffic.hear();
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut line.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            line.traffic.hear();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        let written = Pin::new(&mut line.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = written {
            line.traffic.write(count);
        }
        line.watched(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        let written = Pin::new(&mut line.stream).poll_write_vectored(context, pieces);
        if let Poll::Ready(Ok(count)) = written {
            line.traffic.write(count);
        }
        line.watched(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let flushed = Pin::new(&mut line.stream).poll_flush(context);
        line.watched(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let shut = Pin::new(&mut line.stream).poll_shutdown(context);
        line.watched(context, shut)
    }
}
