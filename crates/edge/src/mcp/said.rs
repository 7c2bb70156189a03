//! What is said on the stream of a request, kept for a while: a client whose network failed goes on from
//! the last event it got, and the answer is often among those it did not get.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use parking_lot::Mutex;
use protocol::limits::mcp as limits;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// What is said on the stream of one request.
#[derive(Default)]
pub(super) struct Said {
    state: Mutex<State>,
    /// Rings when there is more, or when that was all.
    bell: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<ServerSseMessage>,
    /// The number of the first of them.
    first: usize,
    is_over: bool,
}

/// An event of a request's stream, by its id.
pub(super) struct EventId {
    /// Its number on the stream.
    number: usize,
    /// The request.
    pub(super) request: u64,
}

impl EventId {
    /// Reads `number/request`. Events of other streams are named otherwise.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (number, request) = text.split_once('/')?;
        Some(Self { number: number.parse().ok()?, request: request.parse().ok()? })
    }

    /// The number of the next event of the stream.
    pub(super) fn next(&self) -> usize {
        self.number.saturating_add(1)
    }
}

impl Said {
    /// Takes in what is said, whether or not anybody listens, and forgets it a while after the end.
    pub(super) async fn take_in(
        self: Arc<Self>,
        mut events: impl Stream<Item = ServerSseMessage> + Unpin,
        stop: CancellationToken,
    ) {
        let hear = async {
            while let Some(event) = events.next().await {
                self.add(event);
            }
            self.end();
            sleep(limits::ANSWER_KEPT).await;
        };
        tokio::select! {
            () = hear => {}
            () = stop.cancelled() => self.end(),
        }
        self.state.lock().events.clear();
    }

    /// What is said from an event on, to its end.
    pub(super) fn from(self: Arc<Self>, next: usize) -> impl Stream<Item = ServerSseMessage> {
        futures_util::stream::unfold((self, next), async |(said, next)| {
            loop {
                let more = said.bell.notified();
                let (event, is_over) = said.look(next);
                match event {
                    Some((number, event)) => return Some((event, (Arc::clone(&said), number + 1))),
                    None if is_over => return None,
                    None => more.await,
                }
            }
        })
    }

    /// The first event from this number on, and whether there will be no other.
    fn look(&self, next: usize) -> (Option<(usize, ServerSseMessage)>, bool) {
        let state = self.state.lock();
        let number = next.max(state.first);
        let event = state.events.get(number - state.first).cloned();
        (event.map(|event| (number, event)), state.is_over)
    }

    fn add(&self, event: ServerSseMessage) {
        let mut state = self.state.lock();
        if state.events.len() >= limits::EVENTS_KEPT_MAX {
            state.events.pop_front();
            state.first += 1;
        }
        state.events.push_back(event);
        self.bell.notify_waiters();
    }

    fn end(&self) {
        self.state.lock().is_over = true;
        self.bell.notify_waiters();
    }
}
