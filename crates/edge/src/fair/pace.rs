//! A request's body that must keep coming: whoever sends a byte now and then holds a place for nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use protocol::limits;
use tokio::time::{Instant, Sleep};

/// Whether a body was given up for coming too slowly.
#[derive(Clone, Default)]
pub(super) struct TooSlow(Arc<AtomicBool>);

impl TooSlow {
    pub(super) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a body has come, and by when more of it must.
#[derive(Default)]
struct Pace {
    bytes: u64,
    // Most bodies are there with their headers; only one that is waited for is timed.
    waiting: Option<Waiting>,
}

struct Waiting {
    since: Instant,
    alarm: Pin<Box<Sleep>>,
}

impl Pace {
    fn came(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Ready once the body should have come further than it has.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let due = due(self.bytes);
        let waiting = self.waiting.get_or_insert_with(|| {
            let since = Instant::now();
            Waiting { since, alarm: Box::pin(tokio::time::sleep_until(since + due)) }
        });
        let deadline = waiting.since + due;
        if waiting.alarm.deadline() != deadline {
            waiting.alarm.as_mut().reset(deadline);
        }
        waiting.alarm.as_mut().poll(context)
    }
}

/// How long after its beginning so many bytes of a body must have come.
fn due(bytes: u64) -> Duration {
    let sent =
        Duration::from_millis(bytes.saturating_mul(1_000) / limits::UPLOAD_BYTES_PER_SECOND_MIN);
    limits::UPLOAD_GRACE.saturating_add(sent).min(limits::UPLOAD_TIMEOUT)
}

/// Why a body was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    /// It is not framed as HTTP has it.
    Malformed,
    /// Whoever sent it has gone away.
    Broken,
}

impl Unread {
    fn of(error: &BoxError) -> Self {
        use std::io::ErrorKind::{InvalidData, InvalidInput};
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&**error);
        while let Some(error) = cause {
            let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
            if matches!(kind, Some(InvalidData | InvalidInput)) {
                return Self::Malformed;
            }
            cause = error.source();
        }
        Self::Broken
    }
}

/// A whole body, unless it is too large or comes too slowly.
pub(crate) async fn read<B>(body: B, bytes_max: usize) -> Result<Vec<u8>, Unread>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    // Whoever announces too much is told before it is sent.
    if body.size_hint().lower() > u64::try_from(bytes_max).unwrap_or(u64::MAX) {
        return Err(Unread::TooLarge);
    }
    let (mut body, mut pace) = (std::pin::pin!(body), Pace::default());
    let mut whole = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| match body.as_mut().poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending => pace.poll_late(context).map(|()| Err(Unread::TooSlow)),
        });
        let Some(frame) = frame.await? else { return Ok(whole) };
        // Trailers say nothing here.
        let Ok(bytes) = frame.map_err(|error| Unread::of(&error.into()))?.into_data() else {
            continue;
        };
        if whole.len() + bytes.len() > bytes_max {
            return Err(Unread::TooLarge);
        }
        pace.came(bytes.len());
        whole.extend_from_slice(&bytes);
    }
}

/// A body that ends in an error when it comes too slowly.
pub(super) struct Paced {
    body: axum::body::Body,
    too_slow: TooSlow,
    pace: Pace,
}

impl Paced {
    pub(super) fn new(body: axum::body::Body, too_slow: TooSlow) -> Self {
        Self { body, too_slow, pace: Pace::default() }
    }
}

impl Body for Paced {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some(Ok(frame)) = &frame {
                self.pace.came(frame.data_ref().map_or(0, Bytes::len));
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        std::task::ready!(self.pace.poll_late(context));
        self.too_slow.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err("the body came too slowly".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use http_body_util::BodyExt;

    use super::*;

    /// A body of pieces that come one after the other, each after a pause.
    fn body(pieces: usize, bytes: usize, pause: Duration) -> axum::body::Body {
        let pieces = futures_util::stream::iter(0..pieces).then(move |_| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, std::convert::Infallible>(Bytes::from(vec![b'x'; bytes]))
        });
        axum::body::Body::from_stream(pieces)
    }

    async fn arrives(pieces: usize, bytes: usize, pause_ms: u64) -> bool {
        let too_slow = TooSlow::default();
        let pause = Duration::from_millis(pause_ms);
        let paced = Paced::new(body(pieces, bytes, pause), too_slow.clone());
        let arrived = paced.collect().await.is_ok();
        assert_eq!(arrived, !too_slow.is_so());
        let whole = read(body(pieces, bytes, pause), limits::BODY_BYTES_MAX).await;
        let length = whole.map(|whole| whole.len());
        assert_eq!(length, if arrived { Ok(pieces * bytes) } else { Err(Unread::TooSlow) });
        arrived
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_keeps_its_pace_or_is_given_up() {
        assert!(arrives(20, 1_024, 1_000).await, "just fast enough");
        assert!(arrives(1, 1, 4_900).await, "late, but soon enough");
        assert!(!arrives(1, 1, 5_100).await, "nothing comes");
        assert!(!arrives(100, 512, 1_000).await, "half as fast as it must be");
        assert!(!arrives(40, 20 * 1_024, 1_000).await, "fast enough, but without end");
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_not_read_to_its_end() {
        let whole = read(body(4, 5, Duration::ZERO), 20).await;
        assert_eq!(whole.map(|whole| whole.len()), Ok(20));
        assert_eq!(read(body(4, 5, Duration::ZERO), 19).await, Err(Unread::TooLarge));
        let announced = axum::body::Body::from("x".repeat(20));
        assert_eq!(read(announced, 19).await, Err(Unread::TooLarge));
    }
}
