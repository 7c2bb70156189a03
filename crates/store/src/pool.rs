//! A few threads, each with a connection of its own, that take functions from one queue.

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::error::{Result, StoreError};
use crate::job::Job;

/// The queue end that callers hold.
pub(crate) type Queue = mpsc::Sender<Box<dyn Job>>;

/// Starts one thread for each worker; each takes one job at a time.
pub(crate) fn start<W>(
    name: &str,
    workers: Vec<W>,
    capacity: usize,
) -> Result<(Queue, Vec<JoinHandle<()>>)>
where
    W: FnMut(Box<dyn Job>) + Send + 'static,
{
    let (queue, receiver) = mpsc::channel::<Box<dyn Job>>(capacity);
    let receiver = Arc::new(Mutex::new(receiver));
    let mut threads = Vec::with_capacity(workers.len());
    for (number, mut worker) in workers.into_iter().enumerate() {
        let receiver = Arc::clone(&receiver);
        let thread = std::thread::Builder::new()
            .name(format!("{name}-{number}"))
            .spawn(move || {
                loop {
                    // The one that holds the lock waits for work; the others wait for the lock.
                    let next = receiver.lock().blocking_recv();
                    match next {
                        Some(job) => worker(job),
                        None => return,
                    }
                }
            })
            .map_err(|source| StoreError::File {
                what: "cannot start a store thread".into(),
                source,
            })?;
        threads.push(thread);
    }
    Ok((queue, threads))
}
