//! Where a stream hands in what it learns.

use connector_api::{Batch, BoxFuture, HookAnswer, Sink, SinkClosed};
use parking_lot::Mutex;
use protocol::Timestamp;

use super::mark::Mark;
use super::run::Link;
use super::state::LinkStatus;
use crate::error::Error;

/// Where the stream of one link hands in what it learns.
pub(super) struct LinkSink<'a> {
    link: &'a Link,
    /// Why the last batch was not taken.
    refused: Mutex<Option<Error>>,
}

impl<'a> LinkSink<'a> {
    pub(super) fn new(link: &'a Link) -> Self {
        Self { link, refused: Mutex::default() }
    }

    /// Why the last batch was not taken.
    pub(super) fn take_refusal(&self) -> Option<Error> {
        self.refused.lock().take()
    }
}

impl Sink for LinkSink<'_> {
    fn take(&self, batch: Batch) -> BoxFuture<'_, Result<HookAnswer, SinkClosed>> {
        Box::pin(async move {
            let mark = batch.cursor.map_or(Mark::None, Mark::Stream);
            if let Some(wish) = batch.interaction {
                return Ok(self.link.fulfil(wish).await);
            }
            match self.link.commit_all(batch.facts, (batch.inbound, batch.arrived), mark).await {
                Ok(()) => Ok(HookAnswer::default()),
                Err(error) => {
                    *self.refused.lock() = Some(error);
                    Err(SinkClosed)
                }
            }
        })
    }

    fn connected(&self) {
        self.link.tell(LinkStatus::Connected, String::new());
        self.link.bells().up.notify_one();
    }

    fn now(&self) -> Timestamp {
        self.link.hub().now()
    }
}
