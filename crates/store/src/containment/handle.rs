//! The handle that the hub holds: one thread writes the index, a few read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use protocol::limits;
use rusqlite::Connection;

use super::directory::Directories;
use super::indexer::{Batch, Indexer};
use super::rank::Words;
use super::request::{
    ContainmentDoc, ContainmentPage, ContainmentQuery, IndexProgress, RankedPage, RankedQuery,
    RemovedDoc,
};
use super::shape::ContainmentShape;
use super::{find, rank, schema, seal};
use crate::error::{Result, StoreError};
use crate::queue::{Queue, join};
use crate::view_file;

/// The index of what all messages contain. Cheap to clone; its threads end when the last clone is
/// gone.
#[derive(Clone)]
pub struct ContainmentIndex {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    queues: Mutex<Option<Queues>>,
    threads: Mutex<Threads>,
}

/// What [`ContainmentIndex::close`] waits for.
struct Threads {
    readers: Vec<JoinHandle<()>>,
    writers: Vec<JoinHandle<()>>,
}

struct Queues {
    write: Queue<Writer>,
    read: Queue<Reader>,
}

/// What the threads tell each other.
struct Shared {
    path: PathBuf,
    /// Which database it is a view of.
    database: String,
    shape: ContainmentShape,
    progress: Mutex<IndexProgress>,
    /// Those of the file as it is now.
    directories: Mutex<Arc<Directories>>,
    /// Grows when the file is replaced, so that readers open the new one.
    generation: AtomicU64,
    /// Someone found the file broken; the writer replaces it.
    is_damaged: AtomicBool,
}

struct Writer {
    connection: Connection,
    indexer: Indexer,
    directories: Arc<Directories>,
    /// Text was taken out that still stands in the file's own log.
    has_remains: bool,
    shared: Arc<Shared>,
}

struct Reader {
    connection: Connection,
    directories: Arc<Directories>,
    generation: u64,
    shared: Arc<Shared>,
}

impl ContainmentIndex {
    /// Opens the index of a database, in a folder, with so many threads that search. Blocks.
    ///
    /// A file that is damaged, of another format or of another database is deleted; then [`Self::progress`] is zero and
    /// the log has to be fed again.
    pub fn open(folder: &Path, database: &str, readers: usize) -> Result<Self> {
        Self::open_shaped(folder, database, readers, ContainmentShape::default())
    }

    /// The same with pieces of another size, for tests and measurements; a file of another shape
    /// counts as one of another format.
    pub fn open_shaped(
        folder: &Path,
        database: &str,
        readers: usize,
        shape: ContainmentShape,
    ) -> Result<Self> {
        let shape = shape.checked();
        let path = schema::file(folder);
        let (connection, progress) = schema::open_or_rebuild(&path, database, shape)?;
        let directories = Arc::new(Directories::default());
        let shared = Arc::new(Shared {
            path,
            database: database.to_owned(),
            shape,
            progress: Mutex::new(progress),
            directories: Mutex::new(Arc::clone(&directories)),
            generation: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
        });
        let mut owners = Vec::new();
        for _ in 0..readers.clamp(1, limits::containment::READERS_MAX) {
            owners.push(Reader {
                connection: schema::open_reader(&shared.path)?,
                directories: Arc::clone(&directories),
                generation: 0,
                shared: Arc::clone(&shared),
            });
        }
        let writer = Writer {
            connection,
            indexer: Indexer::new(shape),
            directories,
            has_remains: false,
            shared: Arc::clone(&shared),
        };
        let (write, writers) =
            Queue::start("containment-writer", vec![writer], limits::WRITE_QUEUE_MAX)?;
        let (read, readers) = Queue::start("containment-reader", owners, limits::READ_QUEUE_MAX)?;
        read.suggest(Reader::warm);
        let queues = Mutex::new(Some(Queues { write, read }));
        let threads = Mutex::new(Threads { readers, writers });
        Ok(Self { inner: Arc::new(Inner { shared, queues, threads }) })
    }

    /// How far the index has followed the logs that feed it; zero for a new one.
    pub fn progress(&self) -> IndexProgress {
        *self.inner.shared.progress.lock()
    }

    /// Takes messages in and others out, and remembers how far the logs have been read; all or
    /// nothing.
    ///
    /// A message that is in the index already is replaced; one that is both in `docs` and in
    /// `removed` is removed. Progress never goes back. When the file turns out to be broken it is
    /// replaced by an empty one and the call fails; feed the logs again from [`Self::progress`].
    pub async fn index(
        &self,
        docs: Vec<ContainmentDoc>,
        removed: Vec<RemovedDoc>,
        progress: IndexProgress,
    ) -> Result<()> {
        let batch = Batch { docs, removed, progress };
        let answer = self.with_queues(|queues| {
            let answer = queues.write.submit(move |writer| writer.index(&batch));
            queues.write.suggest(Writer::tidy);
            answer
        })?;
        answer.wait().await
    }

    /// One page of messages that contain a text, newest first by the time they were sent.
    pub async fn find(&self, query: ContainmentQuery) -> Result<ContainmentPage> {
        find::check(&query)?;
        let find = move |reader: &mut Reader| reader.find(&query);
        self.with_queues(|queues| queues.read.submit(find))?.wait().await
    }

    /// The best messages that contain all words of a text.
    pub async fn find_ranked(&self, query: RankedQuery) -> Result<RankedPage> {
        let words = Words::parse(&query.text)?;
        let find = move |reader: &mut Reader| reader.find_ranked(&query, &words);
        self.with_queues(|queues| queues.read.submit(find))?.wait().await
    }

    /// Begins with an empty file: the logs that were taken in are not those of today, which have to be
    /// fed from their beginning.
    pub async fn begin_anew(&self) -> Result<()> {
        self.with_queues(|queues| queues.write.submit(Writer::begin_anew))?.wait().await
    }

    /// Stops taking work, finishes what was taken, and closes the file. Blocks.
    pub fn close(&self) {
        let Some(Queues { write, read }) = self.inner.queues.lock().take() else { return };
        let mut threads = self.inner.threads.lock();
        // The writer goes last: only it can fold the file's own log into the file.
        drop(read);
        join(&mut threads.readers);
        drop(write);
        join(&mut threads.writers);
    }

    fn with_queues<T>(&self, work: impl FnOnce(&Queues) -> Result<T>) -> Result<T> {
        self.inner.queues.lock().as_ref().map_or(Err(StoreError::Closed), work)
    }
}

impl Writer {
    fn index(&mut self, batch: &Batch) -> Result<()> {
        if self.shared.is_damaged.load(Ordering::Acquire) {
            return self.replace();
        }
        match self.indexer.index(&mut self.connection, &self.directories, batch) {
            Ok(progress) => {
                *self.shared.progress.lock() = progress;
                self.has_remains |= !batch.removed.is_empty();
                Ok(())
            }
            Err(error) if is_damage(&error) => self.replace(),
            Err(error) => Err(error),
        }
    }

    /// What nobody waits for: sealing what is full, and erasing what was removed from the file's
    /// own log as well.
    fn tidy(&mut self) {
        if let Err(error) = seal::seal(&mut self.connection, self.shared.shape) {
            self.shared.notice(&error);
            tracing::warn!(%error, "a full segment of the containment index was not sealed");
        }
        if self.has_remains {
            // It is busy while someone reads what was there before; then the next turn does it.
            let erased = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                row.get::<_, i64>(0).map(|busy| busy == 0)
            });
            self.has_remains = !matches!(erased, Ok(true));
        }
    }

    /// Begins with an empty file, and tells the caller to feed the logs again.
    fn replace(&mut self) -> Result<()> {
        tracing::warn!("the containment index is damaged and will be built again");
        self.begin_anew()?;
        Err(StoreError::Corrupt { what: "containment index" })
    }

    fn begin_anew(&mut self) -> Result<()> {
        view_file::remove(&self.shared.path)?;
        let Shared { path, database, shape, .. } = &*self.shared;
        let (connection, progress) = schema::open_or_rebuild(path, database, *shape)?;
        self.connection = connection;
        self.indexer = Indexer::new(self.shared.shape);
        self.directories = Arc::default();
        *self.shared.directories.lock() = Arc::clone(&self.directories);
        *self.shared.progress.lock() = progress;
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        self.shared.is_damaged.store(false, Ordering::Release);
        Ok(())
    }
}

impl Reader {
    fn find(&mut self, query: &ContainmentQuery) -> Result<ContainmentPage> {
        self.read(|tx, directories, shape| find::find(tx, directories, shape, query))
    }

    fn find_ranked(&mut self, query: &RankedQuery, words: &Words) -> Result<RankedPage> {
        self.read(|tx, directories, shape| rank::find_ranked(tx, directories, shape, query, words))
    }

    /// Reads what is kept in memory anyway, so that the first search need not.
    fn warm(&mut self) {
        if let Err(error) = self.read(|tx, directories, _| directories.load(tx)) {
            tracing::warn!(%error, "the containment index could not be read ahead");
        }
    }

    fn read<T>(
        &mut self,
        work: impl FnOnce(&Connection, &Directories, ContainmentShape) -> Result<T>,
    ) -> Result<T> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.connection = schema::open_reader(&self.shared.path)?;
            self.directories = Arc::clone(&self.shared.directories.lock());
            self.generation = generation;
        }
        let tx = self.connection.transaction()?;
        work(&tx, &self.directories, self.shared.shape)
            .inspect_err(|error| self.shared.notice(error))
    }
}

impl Shared {
    fn notice(&self, error: &StoreError) {
        if is_damage(error) {
            self.is_damaged.store(true, Ordering::Release);
        }
    }
}

/// Whether an error says that the file, or something that was stored in it, is broken.
fn is_damage(error: &StoreError) -> bool {
    use rusqlite::Error as Sqlite;
    view_file::is_damage(error)
        || matches!(
            error,
            StoreError::Corrupt { .. }
                | StoreError::Sqlite(
                    Sqlite::QueryReturnedNoRows
                        | Sqlite::InvalidColumnType(..)
                        | Sqlite::FromSqlConversionFailure(..)
                        | Sqlite::IntegralValueOutOfRange(..)
                )
        )
}
