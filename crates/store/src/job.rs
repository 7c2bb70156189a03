//! One transaction function on its way through a worker thread, with the place its answer goes to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::tx::Tx;

/// A transaction function whose types have been forgotten.
pub(crate) trait Job: Send {
    /// When it was asked for.
    fn asked(&self) -> Instant;
    /// Runs the function once more, keeping its answer; `false` when it failed.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Hands out the kept answer, or the reason why the commit failed.
    fn settle(self: Box<Self>, commit: Result<(), StoreError>);
}

struct Pending<T, E, F> {
    asked: Instant,
    work: F,
    answer: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

/// Wraps a function; the receiver gets its answer after the commit.
pub(crate) fn job<T, E, F>(work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>)
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (reply, receiver) = oneshot::channel();
    (Box::new(Pending { asked: now(), work, answer: None, reply }), receiver)
}

#[expect(clippy::disallowed_methods, reason = "the writer measures how those who wait come and go")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl<T, E, F> Job for Pending<T, E, F>
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn asked(&self) -> Instant {
        self.asked
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let answer = catch_unwind(AssertUnwindSafe(|| (self.work)(tx)))
            .unwrap_or_else(|_| Err(E::from(StoreError::Broken)));
        let ok = answer.is_ok();
        self.answer = Some(answer);
        ok
    }

    fn settle(self: Box<Self>, commit: Result<(), StoreError>) {
        let answer = match (commit, self.answer) {
            (Ok(()), Some(answer)) => answer,
            (Ok(()), None) => Err(E::from(StoreError::Closed)),
            (Err(error), _) => Err(E::from(error)),
        };
        // Nobody waits any more when the caller has gone away; the change stands all the same.
        drop(self.reply.send(answer));
    }
}
