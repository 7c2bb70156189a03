//! The streams of an HTTP/2 connection, so that one that has none and only answers pings is noticed.

use std::sync::Arc;

use hyper::rt::Executor;
use hyper_util::rt::TokioExecutor;
use parking_lot::Mutex;
use protocol::limits;
use tokio::time::{Instant, sleep_until};

use super::line::Traffic;
use super::pieces::taken;

/// Runs the streams of one connection, and knows how many are open.
#[derive(Clone)]
pub(super) struct Streams(Arc<Mutex<State>>);

struct State {
    open: usize,
    /// When the last one ended.
    ended: Instant,
}

/// One stream, for as long as it is open.
struct Open(Streams);

impl Default for Streams {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { open: 0, ended: Instant::now() })))
    }
}

impl Streams {
    fn begin(&self) -> Open {
        self.0.lock().open += 1;
        Open(self.clone())
    }

    /// Since when no stream is open, if none is.
    fn without_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.open == 0).then_some(state.ended)
    }

    /// Returns when no stream has been open for a while. An answer may still be on its way to a slow
    /// client when its stream is over here, so as long as much is written the connection is in use.
    pub(super) async fn are_over(&self, traffic: &Traffic) {
        let mut written = traffic.bytes_written();
        let mut due = Instant::now() + limits::CONNECTION_TIMEOUT;
        loop {
            sleep_until(due).await;
            let now = Instant::now();
            let before = std::mem::replace(&mut written, traffic.bytes_written());
            let is_busy = written - before > limits::IDLE_BYTES_WRITTEN_MAX;
            let since = self.without_since().filter(|_| !is_busy);
            due = since.unwrap_or(now) + limits::CONNECTION_TIMEOUT;
            if due <= now {
                return;
            }
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.open -= 1;
        state.ended = Instant::now();
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let open = self.begin();
        TokioExecutor::new().execute(async move {
            let _open = open;
            taken(stream).await;
        });
    }
}
