//! Group commit: one thread writes; everyone who waits shares its commit and its fsync.
//!
//! A batch forms while the previous commit is on its way to the disk, and the queue is drained once
//! more just before COMMIT; no timer. How many it may hold depends on how soon others come back.
//! Functions run without savepoints. One that fails before its first write costs the batch nothing;
//! one that fails later has the batch run again with savepoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use protocol::limits;
use rusqlite::Connection;
use tokio::sync::{mpsc, watch};

use crate::checkpoint::{self, Checkpointer, Files, Log};
use crate::driver::sqlite;
use crate::error::{Result, StoreError};
use crate::job::{self, Job};
use crate::message_keys::MessageKeys;
use crate::pool::Queue;
use crate::remembered::Remembered;
use crate::turns::Turns;
use crate::tx::{self, Tx};
use crate::versions::Versions;

/// Room on the disk is looked at once in so many commits.
const DISK_CHECK_EVERY: u32 = 32;

/// Functions that share a commit.
type Batch = Vec<Box<dyn Job>>;

/// The running writer and its checkpointer.
pub(crate) struct Writer {
    pub(crate) queue: Queue,
    pub(crate) threads: Vec<JoinHandle<()>>,
    pub(crate) failed: watch::Receiver<bool>,
}

/// Starts the threads that write.
pub(crate) fn start(
    path: &Path,
    mut connection: Connection,
    versions: Arc<Versions>,
    files: &Arc<Files>,
) -> Result<Writer> {
    let log = Arc::new(Log::default());
    let (queue, receiver) = mpsc::channel(limits::WRITE_QUEUE_MAX);
    let (fail, failed) = watch::channel(false);
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    let hooked = Arc::clone(&log);
    connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
        hooked.has(u64::try_from(pages).unwrap_or(0));
        Ok(())
    }))?;
    let keys = MessageKeys::load(&mut Tx::new(tx::Connection::Sqlite(&connection)))?;
    let state = State {
        connection,
        receiver,
        log: Arc::clone(&log),
        fail: fail.clone(),
        versions,
        touched: Vec::new(),
        remembered: Remembered::new(keys),
        turns: Turns::default(),
        folder,
        disk_low: false,
        commits: 0,
        _files: Arc::clone(files),
    };
    let writer = spawn("store-writer", move || state.run())?;
    let checkpointer = Checkpointer::open(path, log, fail, Arc::clone(files))?;
    let checkpointer = spawn("store-checkpoint", move || checkpointer.run())?;
    Ok(Writer { queue, threads: vec![writer, checkpointer], failed })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|source| StoreError::File { what: format!("cannot start thread {name}"), source })
}

/// What the writing thread owns.
struct State {
    connection: Connection,
    receiver: mpsc::Receiver<Box<dyn Job>>,
    log: Arc<Log>,
    fail: watch::Sender<bool>,
    versions: Arc<Versions>,
    touched: Vec<i64>,
    remembered: Remembered,
    turns: Turns,
    folder: PathBuf,
    disk_low: bool,
    commits: u32,
    /// Behind the connection: it is closed first.
    _files: Arc<Files>,
}

impl State {
    fn run(mut self) {
        let mut batch = Batch::new();
        loop {
            if self.receiver.blocking_recv_many(&mut batch, self.turns.limit()) == 0 {
                break;
            }
            if *self.fail.borrow() {
                settle(&mut batch, || Err(StoreError::Failed));
                continue;
            }
            if self.disk_is_low() {
                settle(&mut batch, || Err(StoreError::Full));
                continue;
            }
            let committed = self.commit(&mut batch);
            self.versions.move_on(&self.touched);
            self.touched.clear();
            if committed.is_err() {
                self.remembered.rolled_back();
            }
            if let Err(error) = committed
                && self.is_fatal(error, &mut batch)
            {
                return;
            }
            settle(&mut batch, || Ok(()));
            self.go_on_with_keys();
            self.finish_checkpoint();
        }
        self.log.stop();
        if *self.fail.borrow() {
            return;
        }
        if let Err(error) = self.file_all_keys() {
            tracing::warn!(%error, "keys of messages were not filed; the next start reads them again");
        }
        // The last word: leave an empty log behind, so that the next start has nothing to replay.
        if let Err(error) =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "the closing checkpoint failed; the next start replays the log");
        }
    }

    /// Runs and commits the batch, and whatever arrived while it ran.
    fn commit(&mut self, batch: &mut Batch) -> Result<()> {
        self.statement("BEGIN IMMEDIATE")?;
        let changes = self.connection.total_changes();
        let limit = self.turns.limit();
        let mut done = 0;
        loop {
            let mut tx =
                Tx::new(tx::Connection::Sqlite(&self.connection)).with_remembered(&self.remembered);
            for job in batch.iter_mut().skip(done) {
                let ok = job.run(&mut tx);
                self.check_open(&tx)?;
                if tx.take_wrote() && !ok {
                    drop(tx);
                    return self.commit_apart(batch);
                }
            }
            self.touched.extend_from_slice(tx.touched());
            done = batch.len();
            while batch.len() < limit
                && let Ok(job) = self.receiver.try_recv()
            {
                batch.push(job);
            }
            if batch.len() == done {
                break;
            }
        }
        self.file_keys(self.connection.total_changes().saturating_sub(changes))?;
        self.turns.asked(batch.iter().map(|job| job.asked()));
        let began = job::now();
        self.statement("COMMIT")?;
        let now = job::now();
        self.turns.committed(now - began, batch.len(), self.receiver.len(), now);
        Ok(())
    }

    /// Files some keys together with what was changed.
    fn file_keys(&self, changes: u64) -> Result<()> {
        let mut tx = Tx::new(tx::Connection::Sqlite(&self.connection));
        self.remembered.keys.borrow_mut().file(&mut tx, changes)
    }

    /// After a commit: whatever was filed is filed for good, and there may be enough for another run.
    fn go_on_with_keys(&self) {
        let changes = self.connection.total_changes();
        if !self.remembered.keys.borrow_mut().committed(changes) {
            return;
        }
        if let Err(error) = self.begin_run() {
            tracing::warn!(%error, "keys of messages cannot be filed yet");
        }
    }

    fn begin_run(&self) -> Result<()> {
        let newest = Tx::new(tx::Connection::Sqlite(&self.connection)).newest_message_row()?;
        self.remembered.keys.borrow_mut().begin_run(newest, self.connection.total_changes());
        Ok(())
    }

    /// Files what is left, so that the next start has nothing to read.
    fn file_all_keys(&self) -> Result<()> {
        if self.connection.total_changes() == 0 {
            return Ok(());
        }
        // First the run under way, if there is one, and then everything else.
        for _ in 0..2 {
            self.statement("BEGIN IMMEDIATE")?;
            self.file_keys(u64::MAX)?;
            self.statement("COMMIT")?;
            self.remembered.keys.borrow_mut().committed(0);
            self.begin_run()?;
        }
        Ok(())
    }

    /// One of the batch failed after it had written: run each behind a savepoint of its own.
    fn commit_apart(&mut self, batch: &mut [Box<dyn Job>]) -> Result<()> {
        self.remembered.rolled_back();
        self.statement("ROLLBACK")?;
        self.statement("BEGIN IMMEDIATE")?;
        for job in batch {
            self.statement("SAVEPOINT job")?;
            let mark = self.remembered.mark();
            let mut tx =
                Tx::new(tx::Connection::Sqlite(&self.connection)).with_remembered(&self.remembered);
            let ok = job.run(&mut tx);
            self.touched.extend_from_slice(tx.touched());
            self.check_open(&tx)?;
            if !ok {
                self.remembered.rolled_back_to(mark);
                self.statement("ROLLBACK TO job")?;
            }
            self.statement("RELEASE job")?;
        }
        self.statement("COMMIT")
    }

    /// SQLite ends a transaction by itself when a statement meets a full or failing disk; whatever ran
    /// after that would be kept piece by piece, so nothing may.
    fn check_open(&self, tx: &Tx<'_>) -> Result<()> {
        match (self.connection.is_autocommit(), tx.met_full_disk()) {
            (false, _) => Ok(()),
            (true, true) => Err(StoreError::Full),
            (true, false) => Err(StoreError::Broken),
        }
    }

    fn statement(&self, sql: &'static str) -> Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute()?;
        Ok(())
    }

    /// Answers a failed batch; `true` when the disk failed and nothing may be written any more.
    fn is_fatal(&mut self, error: StoreError, batch: &mut Batch) -> bool {
        if !self.connection.is_autocommit()
            && let Err(error) = self.statement("ROLLBACK")
        {
            tracing::warn!(%error, "the rollback of a failed batch failed too");
        }
        match error {
            StoreError::Full => {
                self.disk_low = true;
                settle(batch, || Err(StoreError::Full));
                false
            }
            error if error.is_disk_failure() => {
                tracing::error!(%error, "a write could not be made durable; the hub must stop");
                self.fail.send_replace(true);
                settle(batch, || Err(StoreError::Failed));
                self.receiver.close();
                while let Ok(job) = self.receiver.try_recv() {
                    job.settle(Err(StoreError::Failed));
                }
                self.log.stop();
                true
            }
            error => {
                tracing::error!(%error, "a batch of changes was rolled back");
                settle(batch, || Err(StoreError::Broken));
                false
            }
        }
    }

    /// A log that the checkpointer has copied restarts from its beginning once the writer has copied
    /// the rest. Everyone waits meanwhile, so the rest is small.
    fn finish_checkpoint(&self) {
        if !self.log.is_to_be_finished() {
            return;
        }
        match sqlite::checkpoint(&self.connection) {
            Ok(copied) => self.log.was_finished(copied),
            Err(error) => drop(checkpoint::failed(&error, &self.fail)),
        }
    }

    /// Whether there is too little room to write; looked at now and then, and always while it is low.
    fn disk_is_low(&mut self) -> bool {
        self.commits = self.commits.wrapping_add(1);
        if self.disk_low || self.commits % DISK_CHECK_EVERY == 1 {
            let room = rustix::fs::statvfs(&self.folder);
            let free = room.map_or(u64::MAX, |fs| fs.f_bavail.saturating_mul(fs.f_frsize));
            let low = free < limits::DISK_FREE_BYTES_MIN;
            if low != self.disk_low {
                tracing::warn!(free_bytes = free, low, "room on the disk changed");
            }
            self.disk_low = low;
        }
        self.disk_low
    }
}

fn settle(batch: &mut Batch, commit: impl Fn() -> Result<()>) {
    for job in batch.drain(..) {
        job.settle(commit());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use super::*;
    use crate::store::{Settings, Store};

    fn opened() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::Sqlite { folder: folder.path().to_owned(), readers: 1 };
        let store = Store::open(&settings).unwrap();
        (folder, store)
    }

    /// Holds the writer until the sender is dropped, so that those who wait by then share a batch.
    fn held(store: &Store) -> (Sender<()>, impl Future<Output = Result<()>>) {
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Mutex::new(gate);
        let first = store.write(move |_| {
            gate.lock().unwrap().recv().ok();
            Ok(())
        });
        (go, first)
    }

    #[tokio::test]
    async fn a_transaction_that_ended_by_itself_takes_its_whole_batch_along() {
        let (_folder, store) = opened();
        let (go, first) = held(&store);
        // As SQLite does when a statement that reads meets a failing disk.
        let ended = store.write(|tx| {
            tx.each("ROLLBACK", &[], |_| Ok(true))?;
            Err::<(), _>(StoreError::Closed)
        });
        let beside = store.write(|tx| tx.set_fact("beside", "of the same batch"));
        let (_, ended, beside, ()) = tokio::join!(first, ended, beside, async move { drop(go) });
        assert!(matches!(ended, Err(StoreError::Broken)), "{ended:?}");
        let beside: Result<()> = beside;
        let kept: Result<_> = store.read(|tx| tx.fact("beside")).await;
        assert_eq!(kept.unwrap().is_some(), beside.is_ok(), "what was answered is what is there");
        let next: Result<()> = store.write(|tx| tx.set_fact("next", "works")).await;
        next.unwrap();
        let closing = store.clone();
        tokio::task::spawn_blocking(move || closing.close()).await.unwrap();
    }

    #[tokio::test]
    async fn a_disk_that_fills_up_within_a_statement_is_full_for_the_whole_batch() {
        let (_folder, store) = opened();
        let (go, first) = held(&store);
        let before = store.write(|tx| tx.set_fact("before", "of the same batch"));
        // The file may not grow any more: SQLite takes that for a full disk.
        let filling = store.write(|tx| {
            tx.each("PRAGMA max_page_count = 1", &[], |_| Ok(true))?;
            tx.set_fact("large", &"x".repeat(1_000_000))
        });
        let beside = store.write(|tx| tx.set_fact("beside", "of the same batch"));
        let (_, before, filling, beside, ()) =
            tokio::join!(first, before, filling, beside, async move { drop(go) });
        for answer in [before, filling, beside] {
            let answer: Result<()> = answer;
            assert!(matches!(answer, Err(StoreError::Full)), "{answer:?}");
        }
        let room: Result<()> =
            store.write(|tx| tx.each("PRAGMA max_page_count = 1000000", &[], |_| Ok(true))).await;
        room.unwrap();
        let next: Result<()> = store.write(|tx| tx.set_fact("next", "works")).await;
        next.unwrap();
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }
}
