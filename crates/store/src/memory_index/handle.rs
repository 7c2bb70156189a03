//! The handle that the hub holds: one thread writes the view, a few read it, all share the vectors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Mutex, RwLock};
use protocol::limits;
use rusqlite::Connection;
use tokio::sync::watch;

use super::frequencies::Frequencies;
use super::request::{Candidate, MemoryDoc, RecallQuery, Vector};
use super::vectors::{BYTES_MAX, Vectors};
use super::{find, indexer, schema};
use crate::error::{Result, StoreError};
use crate::memories::MemoryItem;
use crate::queue::{Queue, join};
use crate::view_file;

/// Threads that search.
const READERS: usize = 2;

/// The view of memories and documents. Cheap to clone; its threads end when the last clone is gone.
#[derive(Clone)]
pub struct MemoryIndex {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    queues: Mutex<Option<Queues>>,
    threads: Mutex<Threads>,
}

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
    progress: watch::Sender<i64>,
    /// Grows when the file is replaced, so that readers open the new one.
    generation: AtomicU64,
    /// Someone found the file broken; the writer replaces it.
    is_damaged: AtomicBool,
    /// The vectors of areas that were asked for. The writer keeps them as the file is.
    vectors: RwLock<HashMap<i64, Vectors>>,
    /// Held while the file and the vectors are changed, and while vectors are loaded.
    turn: Mutex<()>,
}

struct Writer {
    connection: Connection,
    shared: Arc<Shared>,
}

struct Reader {
    connection: Connection,
    generation: u64,
    frequencies: Frequencies,
    shared: Arc<Shared>,
}

impl MemoryIndex {
    /// Opens the view of a database, in a folder. Blocks.
    ///
    /// A file that is damaged, of another format or of another database is deleted; then [`Self::indexed_upto`] is 0 and
    /// the trail of changes has to be fed again.
    pub fn open(folder: &Path, database: &str) -> Result<Self> {
        let path = schema::file(folder);
        let (connection, upto) = schema::open_or_rebuild(&path, database)?;
        let shared = Arc::new(Shared {
            path,
            database: database.to_owned(),
            upto: AtomicI64::new(upto),
            progress: watch::channel(upto).0,
            generation: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
            vectors: RwLock::default(),
            turn: Mutex::new(()),
        });
        let mut readers = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            readers.push(Reader {
                connection: schema::open_reader(&shared.path)?,
                generation: 0,
                frequencies: Frequencies::default(),
                shared: Arc::clone(&shared),
            });
        }
        let writer = Writer { connection, shared: Arc::clone(&shared) };
        let (write, writers) =
            Queue::start("memory-writer", vec![writer], limits::WRITE_QUEUE_MAX)?;
        let (read, readers) = Queue::start("memory-reader", readers, limits::READ_QUEUE_MAX)?;
        let queues = Mutex::new(Some(Queues { write, read }));
        let threads = Mutex::new(Threads { readers, writers });
        Ok(Self { inner: Arc::new(Inner { shared, queues, threads }) })
    }

    /// The last change that the view holds, with all before it; 0 for a new one.
    pub fn indexed_upto(&self) -> i64 {
        self.inner.shared.upto.load(Ordering::Acquire)
    }

    /// Tells how far the view goes whenever it grows.
    pub fn progress(&self) -> watch::Receiver<i64> {
        self.inner.shared.progress.subscribe()
    }

    /// Takes documents in and others out, and remembers how far the trail has been read; all or
    /// nothing. What is there already is replaced.
    pub async fn apply(
        &self,
        docs: Vec<MemoryDoc>,
        gone: Vec<MemoryItem>,
        upto: i64,
    ) -> Result<()> {
        let apply = move |writer: &mut Writer| writer.apply(&docs, &gone, upto);
        self.with_queues(|queues| queues.write.submit(apply))?.wait().await
    }

    /// What may be meant, with its ranks.
    pub async fn recall(&self, query: RecallQuery) -> Result<Vec<Candidate>> {
        let recall = move |reader: &mut Reader| reader.recall(&query);
        self.with_queues(|queues| queues.read.submit(recall))?.wait().await
    }

    /// Begins with an empty file: the trail that was taken in is not that of today, which has to be fed
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
    fn apply(&mut self, docs: &[MemoryDoc], gone: &[MemoryItem], upto: i64) -> Result<()> {
        if self.shared.is_damaged.load(Ordering::Acquire) {
            return self.replace();
        }
        let shared = Arc::clone(&self.shared);
        let turn = shared.turn.lock();
        match indexer::apply(&mut self.connection, docs, gone, upto) {
            Ok(applied) => {
                self.keep(&applied, docs)?;
                self.shared.upto.store(applied.upto, Ordering::Release);
                self.shared.progress.send_replace(applied.upto);
                Ok(())
            }
            Err(error) if view_file::is_damage(&error) => {
                drop(turn);
                self.replace()
            }
            Err(error) => Err(error),
        }
    }

    /// Brings the vectors that are loaded to what the file holds.
    fn keep(&self, applied: &indexer::Applied, docs: &[MemoryDoc]) -> Result<()> {
        let mut vectors = self.shared.vectors.write();
        for (area, key) in &applied.gone {
            if let Some(vectors) = vectors.get_mut(area) {
                vectors.remove(*key);
            }
        }
        for (area, place) in &applied.come {
            if let (Some(vectors), Some(doc)) = (vectors.get_mut(area), docs.get(*place)) {
                vectors.add(indexer::key(doc.item)?, doc.thread_row.unwrap_or(0), &doc.vector);
            }
        }
        Ok(())
    }

    /// Begins with an empty file, and tells the caller to feed the trail again.
    fn replace(&mut self) -> Result<()> {
        tracing::warn!("the view of memories is damaged and will be built again");
        self.begin_anew()?;
        Err(StoreError::Corrupt { what: "view of memories" })
    }

    fn begin_anew(&mut self) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let _turn = shared.turn.lock();
        view_file::remove(&self.shared.path)?;
        let (connection, upto) = schema::open_or_rebuild(&self.shared.path, &self.shared.database)?;
        self.connection = connection;
        self.shared.vectors.write().clear();
        self.shared.upto.store(upto, Ordering::Release);
        self.shared.progress.send_replace(upto);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        self.shared.is_damaged.store(false, Ordering::Release);
        Ok(())
    }
}

impl Reader {
    fn recall(&mut self, query: &RecallQuery) -> Result<Vec<Candidate>> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.connection = schema::open_reader(&self.shared.path)?;
            self.generation = generation;
            self.frequencies = Frequencies::default();
        }
        let found = self.look(query);
        if found.as_ref().is_err_and(view_file::is_damage) {
            self.shared.is_damaged.store(true, Ordering::Release);
        }
        found
    }

    fn look(&mut self, query: &RecallQuery) -> Result<Vec<Candidate>> {
        let (mut words, mut vectors) = (Vec::new(), Vec::new());
        for area in find::areas(&self.connection, query)? {
            words.extend(find::by_words(&self.connection, area, query, &mut self.frequencies)?);
            if let Some(vector) = &query.vector {
                self.load(area, vector)?;
                if let Some(all) = self.shared.vectors.read().get(&area) {
                    vectors.extend(all.nearest(vector, query.threads.as_deref(), query.pool));
                }
            }
        }
        Ok(find::candidates(words, vectors, query.pool))
    }

    /// Makes sure that the vectors of an area are in memory, and of this kind.
    fn load(&self, area: i64, like: &Vector) -> Result<()> {
        let is_there =
            |all: &HashMap<i64, Vectors>| all.get(&area).is_some_and(|known| known.are_like(like));
        if is_there(&self.shared.vectors.read()) {
            return Ok(());
        }
        let _turn = self.shared.turn.lock();
        let taken: usize = {
            let all = self.shared.vectors.read();
            if is_there(&all) {
                return Ok(());
            }
            all.iter().filter(|(known, _)| **known != area).map(|(_, known)| known.bytes()).sum()
        };
        let loaded = Vectors::load(&self.connection, area, like, BYTES_MAX.saturating_sub(taken))?;
        self.shared.vectors.write().insert(area, loaded);
        Ok(())
    }
}
