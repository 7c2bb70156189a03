//! The store: opening it, and running transaction functions on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use protocol::limits;
use rusqlite::Connection;
use tokio::sync::{mpsc, watch};

use crate::checkpoint::Files;
use crate::driver::postgres::{self as pg, Mode, PgConnection, Target};
use crate::driver::sqlite;
use crate::engine::Engine;
use crate::error::{Result, StoreError};
use crate::job::{self, Job};
use crate::pool::{self, Queue};
use crate::tx::{self, Tx};
use crate::versions::Versions;
use crate::{backup, migrate, writer};

pub(crate) const DATABASE_FILE: &str = "waystation.db";

/// Where the data is.
#[derive(Clone, Debug)]
pub enum Settings {
    /// A folder that this process owns.
    Sqlite {
        /// The folder.
        folder: PathBuf,
        /// How many threads read.
        readers: usize,
    },
    /// A database that several hubs share.
    Postgres {
        /// `postgres://user@host/database`.
        url: String,
        /// How many connections write, and how many read.
        connections: usize,
    },
}

/// The hub's memory. Cheap to clone; closes when the last clone is gone or [`Store::close`] is called.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    path: Option<PathBuf>,
    database_id: String,
    /// Where this process alone writes.
    versions: Option<Arc<Versions>>,
    queues: Mutex<Option<Queues>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    failed: watch::Receiver<bool>,
    // Kept so that `failed` never ends while the store lives.
    _alive: watch::Sender<bool>,
}

/// What there is to know of where the data is.
struct Place {
    engine: Engine,
    path: Option<PathBuf>,
    /// Empty where it is not needed, for want of views.
    database_id: String,
    versions: Option<Arc<Versions>>,
}

/// A connection of the hub's that only reads.
struct Reader {
    connection: Connection,
    /// Behind the connection: it is closed first.
    _files: Arc<Files>,
}

impl Reader {
    fn run(&self, jobs: &mut Vec<Box<dyn Job>>) {
        sqlite::run_reads(&self.connection, jobs);
    }
}

#[derive(Clone)]
struct Queues {
    write: Queue,
    read: Queue,
}

impl Store {
    /// Opens the store, creating and migrating what is not there. Blocks.
    pub fn open(settings: &Settings) -> Result<Self> {
        match settings {
            Settings::Sqlite { folder, readers } => Self::open_sqlite(folder, *readers),
            Settings::Postgres { url, connections } => Self::open_postgres(url, *connections),
        }
    }

    fn open_sqlite(folder: &Path, readers: usize) -> Result<Self> {
        let path = folder.join(DATABASE_FILE);
        backup::check_place(folder)?;
        let connection = sqlite::open_writer(&path)?;
        migrate::sqlite(&connection)?;
        let database_id = Tx::new(tx::Connection::Sqlite(&connection)).database_id()?;
        let files = Files::open(&path)?;
        let mut workers = Vec::new();
        for _ in 0..readers.max(1) {
            let connection = sqlite::open_reader(&path)?;
            let reader = Reader { connection, _files: Arc::clone(&files) };
            workers.push(move |jobs: &mut Vec<_>| reader.run(jobs));
        }
        let (read, mut threads) = pool::start("store-reader", workers, limits::READ_QUEUE_MAX)?;
        let versions = Arc::new(Versions::default());
        let writer = writer::start(&path, connection, Arc::clone(&versions), &files)?;
        threads.extend(writer.threads);
        // The log has its name by now. SQLite syncs the folder too, but passes over its failure.
        backup::make_durable(folder)?;
        let (alive, _) = watch::channel(false);
        let queues = Queues { write: writer.queue, read };
        let (engine, versions) = (Engine::Sqlite, Some(versions));
        let place = Place { engine, path: Some(path), database_id, versions };
        Ok(Self::new(place, queues, threads, (writer.failed, alive)))
    }

    fn open_postgres(url: &str, connections: usize) -> Result<Self> {
        let target = Arc::new(Target::parse(url)?);
        let mut connection = PgConnection::open(&target)?;
        migrate::postgres(&mut connection)?;
        let database_id = Tx::new(tx::Connection::Postgres(&mut connection)).database_id()?;
        let start = |name, mode, capacity| {
            let mut workers = Vec::new();
            for _ in 0..connections.max(1) {
                let mut connection = PgConnection::open(&target)?;
                workers.push(move |jobs: &mut Vec<_>| {
                    jobs.drain(..).for_each(|job| pg::run(&mut connection, mode, job));
                });
            }
            pool::start(name, workers, capacity)
        };
        let (write, mut threads) = start("store-writer", Mode::Write, limits::WRITE_QUEUE_MAX)?;
        let (read, readers) = start("store-reader", Mode::Read, limits::READ_QUEUE_MAX)?;
        threads.extend(readers);
        let (alive, failed) = watch::channel(false);
        let queues = Queues { write, read };
        let place = Place { engine: Engine::Postgres, path: None, database_id, versions: None };
        Ok(Self::new(place, queues, threads, (failed, alive)))
    }

    /// Opens a database file, or the one in a data folder, only to read. Takes no lock and changes no
    /// schema, so it works beside a running hub; every write answers [`StoreError::Closed`]. Blocks.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        let path = if path.is_dir() { path.join(DATABASE_FILE) } else { path.to_owned() };
        let connection = sqlite::open_reader(&path)?;
        migrate::check_not_newer(&mut Tx::new(tx::Connection::Sqlite(&connection)))?;
        sqlite::show_older_trail(&connection)?;
        let worker = move |jobs: &mut Vec<_>| sqlite::run_reads(&connection, jobs);
        let (read, threads) = pool::start("store-reader", vec![worker], limits::READ_QUEUE_MAX)?;
        Ok(Self::reading(Engine::Sqlite, Some(path), read, threads))
    }

    /// Opens a PostgreSQL database only to read; a hub must have brought it forward. Blocks.
    pub fn open_read_only_postgres(url: &str) -> Result<Self> {
        let mut connection = PgConnection::open(&Arc::new(Target::parse(url)?))?;
        migrate::check_current(&mut Tx::new(tx::Connection::Postgres(&mut connection)))?;
        let worker = move |jobs: &mut Vec<_>| {
            jobs.drain(..).for_each(|job| pg::run(&mut connection, Mode::Read, job));
        };
        let (read, threads) = pool::start("store-reader", vec![worker], limits::READ_QUEUE_MAX)?;
        Ok(Self::reading(Engine::Postgres, None, read, threads))
    }

    fn reading(
        engine: Engine,
        path: Option<PathBuf>,
        read: Queue,
        threads: Vec<JoinHandle<()>>,
    ) -> Self {
        // A queue whose other end is gone refuses whatever it is handed.
        let (write, _) = mpsc::channel(1);
        let (alive, failed) = watch::channel(false);
        let place = Place { engine, path, database_id: String::new(), versions: None };
        Self::new(place, Queues { write, read }, threads, (failed, alive))
    }

    fn new(
        place: Place,
        queues: Queues,
        threads: Vec<JoinHandle<()>>,
        (failed, alive): (watch::Receiver<bool>, watch::Sender<bool>),
    ) -> Self {
        let inner = Inner {
            engine: place.engine,
            path: place.path,
            database_id: place.database_id,
            versions: place.versions,
            queues: Mutex::new(Some(queues)),
            threads: Mutex::new(threads),
            failed,
            _alive: alive,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Which kind of database this is.
    pub fn engine(&self) -> Engine {
        self.inner.engine
    }

    /// The database file, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// Which database this is among all: views of it are no views of any other. Nothing where it was
    /// opened only to read.
    pub fn database_id(&self) -> &str {
        &self.inner.database_id
    }

    /// A number that grows with every change of a thread, its messages and who may enter it. Whatever
    /// was read after asking for it is true for as long as it stays the same. Nothing where others may
    /// write beside this process.
    pub fn thread_version(&self, thread_row: i64) -> Option<u64> {
        self.inner.versions.as_ref().map(|versions| versions.of(thread_row))
    }

    /// Changes waiting for the writer.
    pub fn writes_waiting(&self) -> usize {
        let queues = self.inner.queues.lock();
        queues.as_ref().map_or(0, |queues| queues.write.max_capacity() - queues.write.capacity())
    }

    /// Runs a function that changes things; answers after the commit has reached the disk.
    ///
    /// The function may be run more than once and must have no effect outside the transaction.
    pub async fn write<T, E, F>(&self, work: F) -> std::result::Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> std::result::Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(|queues| &queues.write, work).await
    }

    /// Runs a function that only reads, on a consistent snapshot.
    pub async fn read<T, E, F>(&self, work: F) -> std::result::Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> std::result::Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(|queues| &queues.read, work).await
    }

    async fn run<T, E, F>(
        &self,
        choose: impl Fn(&Queues) -> &Queue,
        work: F,
    ) -> std::result::Result<T, E>
    where
        F: Fn(&mut Tx<'_>) -> std::result::Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (job, answer) = job::job(work);
        let sent = match self.inner.queues.lock().as_ref() {
            Some(queues) => choose(queues).try_send(job).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => self.closed(),
            }),
            None => Err(StoreError::Closed),
        };
        sent?;
        answer.await.map_err(|_| self.closed())?
    }

    fn closed(&self) -> StoreError {
        if *self.inner.failed.borrow() { StoreError::Failed } else { StoreError::Closed }
    }

    /// Waits until the disk has failed; then the process must end.
    pub async fn wait_for_failure(&self) {
        let mut failed = self.inner.failed.clone();
        // An error means that the writer has ended; then there is nothing left to fail.
        if failed.wait_for(|failed| *failed).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops taking work, finishes what was taken, and closes the database. Blocks.
    pub fn close(&self) {
        drop(self.inner.queues.lock().take());
        for thread in self.inner.threads.lock().drain(..) {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::error!("a store thread broke off");
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.queues.lock().take());
    }
}
