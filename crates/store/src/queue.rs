//! Threads that own a connection each and take functions from a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::error::{Result, StoreError};

/// One function on its way to a thread that owns a `C`.
type Task<C> = Box<dyn FnOnce(&mut C) + Send>;

/// The end of a queue that callers hold.
pub(crate) struct Queue<C> {
    sender: mpsc::Sender<Task<C>>,
}

/// What a function will have answered. Holding it keeps no thread alive.
pub(crate) struct Answer<T>(oneshot::Receiver<Result<T>>);

impl<T> Answer<T> {
    /// Waits for it.
    pub(crate) async fn wait(self) -> Result<T> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl<C: Send + 'static> Queue<C> {
    /// Starts one thread for each owner; a thread ends when the queue is gone and empty.
    pub(crate) fn start(
        name: &str,
        owners: Vec<C>,
        capacity: usize,
    ) -> Result<(Self, Vec<JoinHandle<()>>)> {
        let (sender, receiver) = mpsc::channel::<Task<C>>(capacity);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::with_capacity(owners.len());
        for (number, mut owner) in owners.into_iter().enumerate() {
            let receiver = Arc::clone(&receiver);
            let thread = std::thread::Builder::new()
                .name(format!("{name}-{number}"))
                .spawn(move || {
                    loop {
                        // The one that holds the lock waits for work; the others wait for the lock.
                        let next = receiver.lock().blocking_recv();
                        match next {
                            Some(task) => task(&mut owner),
                            None => return,
                        }
                    }
                })
                .map_err(|source| StoreError::File {
                    what: "cannot start a search thread".into(),
                    source,
                })?;
            threads.push(thread);
        }
        Ok((Self { sender }, threads))
    }

    /// Has a function run on one of the threads; not at all when nobody waits for it any more.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut C) -> Result<T> + Send + 'static,
    ) -> Result<Answer<T>> {
        let (reply, answer) = oneshot::channel();
        let task: Task<C> = Box::new(move |owner| {
            if reply.is_closed() {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(|| work(owner)));
            // Nobody is told when the caller has gone away meanwhile; what was indexed stays.
            drop(reply.send(done.unwrap_or(Err(StoreError::Broken))));
        });
        self.sender.try_send(task).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })?;
        Ok(Answer(answer))
    }

    /// Lets the threads do something for which nobody waits; left out when they are busy.
    pub(crate) fn suggest(&self, work: impl FnOnce(&mut C) + Send + 'static) {
        let task: Task<C> = Box::new(move |owner| {
            if catch_unwind(AssertUnwindSafe(|| work(owner))).is_err() {
                tracing::error!("a search thread broke off");
            }
        });
        // A full queue has better things to do, and a closed one nothing.
        drop(self.sender.try_send(task));
    }
}

/// Waits for threads whose queue is gone.
pub(crate) fn join(threads: &mut Vec<JoinHandle<()>>) {
    for thread in threads.drain(..) {
        if thread.join().is_err() {
            tracing::error!("a search thread broke off");
        }
    }
}
