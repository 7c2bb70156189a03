//! The handle that the hub holds: one thread writes the index, a few read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use protocol::limits;
use rusqlite::Connection;

use super::expression::Expression;
use super::indexer::Indexer;
use super::request::{SearchDoc, SearchPage, SearchQuery};
use super::{find, schema};
use crate::error::{Result, StoreError};
use crate::queue::{Queue, join};
use crate::view_file;

/// Threads that search.
const READERS: usize = 2;

/// The index of all messages. Cheap to clone; its threads end when the last clone is gone.
#[derive(Clone)]
pub struct SearchIndex {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    queues: Mutex<Option<Queues>>,
    threads: Mutex<Threads>,
}

/// What [`SearchIndex::close`] waits for.
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
    upto: AtomicI64,
    /// Grows when the file is replaced, so that readers open the new one.
    generation: AtomicU64,
    /// Someone found the file broken; the writer replaces it.
    is_damaged: AtomicBool,
}

struct Writer {
    connection: Connection,
    indexer: Indexer,
    shared: Arc<Shared>,
}

struct Reader {
    connection: Connection,
    generation: u64,
    shared: Arc<Shared>,
}

impl SearchIndex {
    /// Opens the index of a database, in a folder. Blocks.
    ///
    /// A file that is damaged, of another format or of another database is deleted; then [`Self::indexed_upto`] is 0 and
    /// the log has to be fed again.
    pub fn open(folder: &Path, database: &str) -> Result<Self> {
        let path = schema::file(folder);
        let (connection, upto) = schema::open_or_rebuild(&path, database)?;
        let shared = Arc::new(Shared {
            path,
            database: database.to_owned(),
            upto: AtomicI64::new(upto),
            generation: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
        });
        let mut readers = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            readers.push(Reader {
                connection: schema::open_reader(&shared.path)?,
                generation: 0,
                shared: Arc::clone(&shared),
            });
        }
        let writer =
            Writer { connection, indexer: Indexer::default(), shared: Arc::clone(&shared) };
        let (write, writers) =
            Queue::start("search-writer", vec![writer], limits::WRITE_QUEUE_MAX)?;
        let (read, readers) = Queue::start("search-reader", readers, limits::READ_QUEUE_MAX)?;
        let queues = Mutex::new(Some(Queues { write, read }));
        let threads = Mutex::new(Threads { readers, writers });
        Ok(Self { inner: Arc::new(Inner { shared, queues, threads }) })
    }

    /// The row of the last message that can be found, with all before it; 0 for a new index.
    pub fn indexed_upto(&self) -> i64 {
        self.inner.shared.upto.load(Ordering::Acquire)
    }

    /// Takes messages in, and remembers that the log has been read up to a row; all or nothing.
    ///
    /// A message that is in the index already is replaced. When the file turns out to be broken it
    /// is replaced by an empty one and the call fails; feed the log again from
    /// [`Self::indexed_upto`].
    pub async fn index(&self, docs: Vec<SearchDoc>, upto: i64) -> Result<()> {
        let answer = self.with_queues(|queues| {
            let answer = queues.write.submit(move |writer| writer.index(&docs, upto));
            queues.write.suggest(Writer::merge);
            answer
        })?;
        answer.wait().await
    }

    /// One page of hits, newest first.
    pub async fn search(&self, query: SearchQuery) -> Result<SearchPage> {
        let expression = Expression::parse(&query.text)?;
        let search = move |reader: &mut Reader| reader.search(&query, &expression);
        self.with_queues(|queues| queues.read.submit(search))?.wait().await
    }

    /// Begins with an empty file: the log that was taken in is not that of today, which has to be fed
    /// from its beginning.
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
    fn index(&mut self, docs: &[SearchDoc], upto: i64) -> Result<()> {
        if self.shared.is_damaged.load(Ordering::Acquire) {
            return self.replace();
        }
        match self.indexer.index(&mut self.connection, docs, upto) {
            Ok(upto) => {
                self.shared.upto.store(upto, Ordering::Release);
                Ok(())
            }
            Err(error) if view_file::is_damage(&error) => self.replace(),
            Err(error) => Err(error),
        }
    }

    fn merge(&mut self) {
        if let Err(error) = self.indexer.merge_step(&mut self.connection) {
            self.shared.notice(&error);
            tracing::warn!(%error, "a full volume of the search index was not merged");
        }
    }

    /// Begins with an empty file, and tells the caller to feed the log again.
    fn replace(&mut self) -> Result<()> {
        tracing::warn!("the search index is damaged and will be built again");
        self.begin_anew()?;
        Err(StoreError::Corrupt { what: "search index" })
    }

    fn begin_anew(&mut self) -> Result<()> {
        view_file::remove(&self.shared.path)?;
        let (connection, upto) = schema::open_or_rebuild(&self.shared.path, &self.shared.database)?;
        self.connection = connection;
        self.indexer = Indexer::default();
        self.shared.upto.store(upto, Ordering::Release);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        self.shared.is_damaged.store(false, Ordering::Release);
        Ok(())
    }
}

impl Reader {
    fn search(&mut self, query: &SearchQuery, expression: &Expression) -> Result<SearchPage> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.connection = schema::open_reader(&self.shared.path)?;
            self.generation = generation;
        }
        let tx = self.connection.transaction()?;
        find::search(&tx, query, expression).inspect_err(|error| self.shared.notice(error))
    }
}

impl Shared {
    fn notice(&self, error: &StoreError) {
        if view_file::is_damage(error) {
            self.is_damaged.store(true, Ordering::Release);
        }
    }
}
