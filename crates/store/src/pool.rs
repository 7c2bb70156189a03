//! A few threads, each with a connection of its own, that take functions from one queue.
//!
//! One that finds a long queue takes its share of it at once: what waited already may share a snapshot.

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::error::{Result, StoreError};
use crate::job::Job;

/// The queue end that callers hold.
pub(crate) type Queue = mpsc::Sender<Box<dyn Job>>;

/// Jobs that one worker takes at once, at most.
const SHARE_MAX: usize = 16;

/// Starts one thread for each worker.
pub(crate) fn start<W>(
    name: &str,
    workers: Vec<W>,
    capacity: usize,
) -> Result<(Queue, Vec<JoinHandle<()>>)>
where
    W: FnMut(&mut Vec<Box<dyn Job>>) + Send + 'static,
{
    let (queue, receiver) = mpsc::channel::<Box<dyn Job>>(capacity);
    let receiver = Arc::new(Mutex::new(receiver));
    let count = workers.len();
    let mut threads = Vec::with_capacity(count);
    for (number, mut worker) in workers.into_iter().enumerate() {
        let receiver = Arc::clone(&receiver);
        let thread = std::thread::Builder::new()
            .name(format!("{name}-{number}"))
            .spawn(move || {
                let mut jobs = Vec::with_capacity(SHARE_MAX);
                while take(&receiver, &mut jobs, count) {
                    worker(&mut jobs);
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

/// Waits for work and takes a worker's share of it; `false` when there will be no more.
fn take(
    receiver: &Mutex<mpsc::Receiver<Box<dyn Job>>>,
    jobs: &mut Vec<Box<dyn Job>>,
    workers: usize,
) -> bool {
    // The one that holds the lock waits for work; the others wait for the lock.
    let mut receiver = receiver.lock();
    let Some(first) = receiver.blocking_recv() else { return false };
    jobs.push(first);
    let share = (receiver.len() / workers).min(SHARE_MAX - 1);
    jobs.extend((0..share).map_while(|_| receiver.try_recv().ok()));
    true
}

#[cfg(test)]
mod tests {
    use crate::error::Result;
    use crate::store::{Settings, Store};

    #[tokio::test]
    async fn reads_that_share_a_snapshot_see_what_was_written_before_they_were_asked() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::Sqlite { folder: folder.path().to_owned(), readers: 1 };
        let store = Store::open(&settings).unwrap();
        // Holds the one reader, with a snapshot of before, until the others wait.
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Mutex::new(gate);
        let before = store.read(move |tx| {
            let fact = tx.fact("name")?;
            gate.lock().unwrap().recv().ok();
            Result::Ok(fact)
        });
        let after = async {
            let written: Result<()> = store.write(|tx| tx.set_fact("name", "here")).await;
            written.unwrap();
            let reads = (0..40).map(|_| store.read(|tx| tx.fact("name")));
            let reads = futures_util::future::join_all(reads);
            let (found, ()): (Vec<Result<Option<String>>>, ()) =
                tokio::join!(reads, async move { drop(go) });
            found
        };
        let (before, after) = tokio::join!(before, after);
        assert!(before.is_ok());
        for found in after {
            assert_eq!(found.unwrap().as_deref(), Some("here"));
        }
        let closing = store.clone();
        tokio::task::spawn_blocking(move || closing.close()).await.unwrap();
    }
}
