//! An answer over HTTP/2, handed out a piece at a time, so that a client that takes nothing of it is
//! noticed: the window of its stream may be shut while the connection itself makes nobody wait.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use protocol::limits;
use tokio::time::{Instant, Sleep, sleep_until};

tokio::task_local! {
    /// The piece of the answer on the stream that is running.
    static PIECE: Arc<Piece>;
}

/// When the piece was handed out that waits for the client's leave to be sent, if one does.
#[derive(Default)]
struct Piece(Mutex<Option<Instant>>);

/// An answer's body in pieces.
pub(super) struct Pieces {
    body: Body,
    /// What is left of a frame that was larger than a piece.
    rest: Bytes,
    piece: Arc<Piece>,
}

/// The answer with its body in pieces, watched by the stream that runs.
pub(super) fn in_pieces(response: Response) -> http::Response<Pieces> {
    let piece = PIECE.try_with(Arc::clone).unwrap_or_default();
    response.map(|body| Pieces { body, rest: Bytes::new(), piece })
}

/// Runs a stream to its end, or until its client has left a piece of its answer lying for too long.
pub(super) async fn taken(stream: impl Future) {
    let piece = Arc::new(Piece::default());
    let mut stream = std::pin::pin!(PIECE.scope(Arc::clone(&piece), stream));
    // Rings when a piece has lain for too long. Most clients never make it wait.
    let mut alarm: Option<Pin<Box<Sleep>>> = None;
    std::future::poll_fn(|context| {
        if stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let handed_out = *piece.0.lock();
        let Some(due) = handed_out.map(|at| at + limits::WRITE_STALL_TIMEOUT) else {
            return Poll::Pending;
        };
        let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if alarm.deadline() != due {
            alarm.as_mut().reset(due);
        }
        ready!(alarm.as_mut().poll(context));
        tracing::debug!("a stream ended early: its client took nothing of the answer");
        Poll::Ready(())
    })
    .await;
}

impl Pieces {
    fn hand_out(&self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        *self.piece.0.lock() = Some(Instant::now());
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // More is asked for, so the piece before was taken.
        *self.piece.0.lock() = None;
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) if data.len() <= limits::HTTP2_PIECE_BYTES_MAX => {
                    return self.hand_out(data);
                }
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let size = self.rest.len().min(limits::HTTP2_PIECE_BYTES_MAX);
        // Copied, so that a piece that is never sent does not keep the whole answer.
        let data = Bytes::copy_from_slice(&self.rest.split_to(size));
        self.hand_out(data)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let of_body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(of_body.lower().saturating_add(rest));
        if let Some(upper) = of_body.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}
