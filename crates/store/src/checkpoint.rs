//! Copying the log of a SQLite database into its file, beside the one thread that writes.
//!
//! SQLite would have the writer do so, and the writer would wait for thousands of pages to reach the
//! disk. Here a thread of its own copies what there is and has the disk take it evenly, a few pages at a
//! time, so that no commit waits behind all of them; then it does the same with what has come meanwhile,
//! until so little is left that the writer can copy it and begin the log anew.

use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use rustix::fs::Advice;
use tokio::sync::watch;

use crate::driver::sqlite::{self, PAGE_BYTES};
use crate::error::{Result, StoreError};
use crate::job;

/// A checkpoint is worth it from so many log pages on.
const LOG_PAGES_MIN: u64 = 4_096;
/// One that is worth it begins so long after the one before, or as soon as the log has so many pages.
const EVERY: Duration = Duration::from_secs(2);
const LOG_PAGES_ENOUGH: u64 = 49_152;
/// How often the log is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What the writer may be asked to copy itself.
const FINISH_PAGES_MAX: u64 = 512;
/// From so many log pages on it copies whatever is left, as long as that takes.
const LOG_PAGES_MAX: u64 = 131_072;
/// Each pass copies what was written during the one before, so what is left soon gets small.
const PASSES_MAX: u32 = 12;
/// So many pages are handed to the disk in each step; a pass with no more is one step.
const STEP_PAGES: usize = 128;
const STEP: Duration = Duration::from_millis(1);
/// Each pass goes twice as fast as the one before, so that they come to an end.
const STEP_GROWTH: u32 = 2;
/// Where the index of the log has the pages of its frames: as numbers of four bytes, so many in each
/// block, the hashes behind them; in the first block its own head takes the place of some.
const BLOCK_BYTES: u64 = 32_768;
const BLOCK_PAGES: u64 = 4_096;
const HEAD_PAGES: u64 = 34;
const NUMBER_BYTES: u64 = 4;

/// What the writer and the checkpointer tell each other of the log.
#[derive(Default)]
pub(crate) struct Log {
    state: Mutex<State>,
    is_over: AtomicBool,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// How often the log was begun anew.
    begun: u64,
    pages: u64,
    /// How many of them have been copied and synced.
    copied: u64,
    /// Whether the writer is to copy the rest.
    is_ready: bool,
}

impl State {
    /// How many pages are not copied.
    fn left(self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }

    /// Whether there is enough to copy, so long after it was `last` copied.
    fn is_due(self, since_last: Duration, last: Ended) -> bool {
        let is_much = self.pages >= LOG_PAGES_ENOUGH && last == Ended::AllButLittle;
        self.left() >= LOG_PAGES_MIN && (is_much || since_last >= EVERY)
    }
}

impl Log {
    /// The log has so many pages now; fewer than before when it was begun anew.
    pub(crate) fn has(&self, pages: u64) {
        let mut state = self.state.lock();
        if pages < state.pages {
            *state = State { begun: state.begun + 1, ..State::default() };
        }
        state.pages = pages;
    }

    /// No more will be written.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether the writer is to copy the rest now. It is asked once for each checkpoint.
    pub(crate) fn is_to_be_finished(&self) -> bool {
        let mut state = self.state.lock();
        std::mem::take(&mut state.is_ready)
            && (state.left() <= FINISH_PAGES_MAX * 2 || state.pages > LOG_PAGES_MAX)
    }

    /// The writer has copied so many pages. If that was all, the next change begins the log anew.
    pub(crate) fn was_finished(&self, copied: u64) {
        if copied >= self.state().pages {
            self.has(0);
        }
    }

    /// So many pages of the log as it was then are copied and synced.
    fn was_copied(&self, then: State, copied: u64) -> State {
        let mut state = self.state.lock();
        if state.begun == then.begun {
            state.copied = copied;
        }
        *state
    }

    /// The writer is to copy the rest, unless the log was begun anew since then.
    fn ask_to_finish(&self, then: State) {
        let mut state = self.state.lock();
        state.is_ready = state.begun == then.begun;
    }

    fn state(&self) -> State {
        *self.state.lock()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// The thread that copies.
pub(crate) struct Checkpointer {
    connection: Connection,
    log: Arc<Log>,
    fail: watch::Sender<bool>,
    files: Arc<Files>,
}

/// Our own handles on files that SQLite has open too.
///
/// SQLite's locks belong to the process, and closing any handle on a file takes all of them away. So
/// everybody with a connection holds these until it is closed.
pub(crate) struct Files {
    database: File,
    /// The index of its log.
    index: File,
}

impl Files {
    /// Opens the files of a database that is open.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>> {
        let open = |path: &Path, why| {
            File::open(path).map_err(|source| StoreError::File {
                what: format!("cannot open {} to {why}", path.display()),
                source,
            })
        };
        let database = open(path, "sync it")?;
        let mut index = path.as_os_str().to_owned();
        index.push("-shm");
        let index = open(index.as_ref(), "learn what is to be copied")?;
        Ok(Arc::new(Self { database, index }))
    }
}

/// A disk that failed; the hub must stop.
#[derive(Debug)]
struct DiskFailed;

/// What came of copying the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    AllButLittle,
    /// Much is left: somebody still reads what stood there before it, or the disk is slow.
    Early,
}

impl Checkpointer {
    pub(crate) fn open(
        path: &Path,
        log: Arc<Log>,
        fail: watch::Sender<bool>,
        files: Arc<Files>,
    ) -> Result<Self> {
        Ok(Self { connection: sqlite::open_writer(path)?, log, fail, files })
    }

    /// Copies until no more is written, or the disk fails.
    pub(crate) fn run(self) {
        let (mut last, mut ended) = (job::now(), Ended::AllButLittle);
        while !self.log.is_over() {
            std::thread::park_timeout(LOOK_EVERY);
            if !self.log.state().is_due(last.elapsed(), ended) {
                continue;
            }
            ended = match self.checkpoint() {
                Ok(ended) => ended,
                Err(DiskFailed) => return,
            };
            last = job::now();
        }
    }

    /// Copies the log, pass by pass, until little is left, and hands that to the writer.
    fn checkpoint(&self) -> std::result::Result<Ended, DiskFailed> {
        let mut step = STEP;
        let mut state = self.log.state();
        let then = state;
        let mut ended = Ended::Early;
        for _ in 0..PASSES_MAX {
            let copied = match sqlite::checkpoint(&self.connection) {
                Ok(copied) => copied,
                Err(error) if failed(&error, &self.fail) => return Err(DiskFailed),
                Err(_) => return Ok(Ended::Early),
            };
            let is_blocked = copied <= state.copied;
            self.write_back(state.copied..copied, step);
            // SQLite itself syncs only once all of the log is copied, and that last step is the writer's.
            if let Err(error) = self.files.database.sync_data() {
                tracing::error!(%error, "a checkpoint could not be made durable; the hub must stop");
                self.fail.send_replace(true);
                return Err(DiskFailed);
            }
            state = self.log.was_copied(then, copied);
            if state.begun != then.begun || state.left() <= FINISH_PAGES_MAX {
                ended = Ended::AllButLittle;
                break;
            }
            if is_blocked || self.log.is_over() {
                break;
            }
            step /= STEP_GROWTH;
        }
        // Where much is left, the writer does nothing unless the log has grown too long.
        self.log.ask_to_finish(then);
        Ok(ended)
    }

    /// Has the disk take the pages of these frames, a few at a time, without waiting for any of them.
    ///
    /// This is a hint: whatever comes of it, the sync that follows makes them durable. It is also why
    /// frames that are overwritten meanwhile do no harm.
    fn write_back(&self, frames: Range<u64>, step: Duration) {
        let Ok(pages) = pages_of(&self.files.index, frames) else { return };
        for some in pages.chunks(STEP_PAGES) {
            for run in some.chunk_by(|page, next| page + 1 == *next) {
                if begin_to_write(&self.files.database, run).is_err() {
                    return;
                }
            }
            if self.log.is_over() {
                return;
            }
            std::thread::park_timeout(step);
        }
    }
}

/// Has the disk begin to take pages that follow each other.
///
/// The kernel offers this to whoever says that they will not need them any more. It then also drops from
/// memory what is written already, but only whole pages: so one or two are named without their very first
/// and last byte, and all of them stay. Of more, what is being written stays; and they are of one piece,
/// which is quickly read again.
fn begin_to_write(file: &File, pages: &[u64]) -> rustix::io::Result<()> {
    const KEPT_MAX: u64 = 2;
    let Some(first) = pages.first() else { return Ok(()) };
    let count = u64::try_from(pages.len()).unwrap_or(u64::MAX);
    let (offset, bytes) = ((first - 1) * PAGE_BYTES, count * PAGE_BYTES);
    let (offset, bytes) = if count > KEPT_MAX { (offset, bytes) } else { (offset + 1, bytes - 2) };
    rustix::fs::fadvise(file, offset, NonZeroU64::new(bytes), Advice::DontNeed)
}

/// The pages that these frames of the log hold, in order, each once. They are read from the log's index,
/// where the numbers of thousands stand together, and not from the log, where each stands by itself.
fn pages_of(index: &File, frames: Range<u64>) -> std::io::Result<Vec<u64>> {
    let mut pages = Vec::new();
    let (mut next, end) = (frames.start + HEAD_PAGES, frames.end + HEAD_PAGES);
    while next < end {
        let (block, place) = (next / BLOCK_PAGES, next % BLOCK_PAGES);
        let count = (end - next).min(BLOCK_PAGES - place);
        let bytes = usize::try_from(count * NUMBER_BYTES).map_err(std::io::Error::other)?;
        let mut numbers = vec![0; bytes];
        index.read_exact_at(&mut numbers, block * BLOCK_BYTES + place * NUMBER_BYTES)?;
        let (numbers, _) = numbers.as_chunks();
        // They count from 1.
        pages.extend(numbers.iter().map(|number| u64::from(u32::from_ne_bytes(*number)).max(1)));
        next += count;
    }
    pages.sort_unstable();
    pages.dedup();
    Ok(pages)
}

/// Whether a checkpoint failed because the disk did; what it could not sync is never synced again.
pub(crate) fn failed(error: &StoreError, fail: &watch::Sender<bool>) -> bool {
    if error.is_disk_failure() {
        tracing::error!(%error, "a checkpoint could not be made durable; the hub must stop");
        fail.send_replace(true);
        return true;
    }
    tracing::warn!(%error, "a checkpoint failed and will be tried again");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_AGO: Duration = Duration::from_hours(1);

    fn with(pages: u64, copied: u64) -> Log {
        let log = Log::default();
        log.has(pages);
        log.was_copied(log.state(), copied);
        log
    }

    #[test]
    fn a_log_is_copied_when_it_has_grown_or_after_a_while_and_not_twice() {
        let is_due =
            |pages, copied, after| with(pages, copied).state().is_due(after, Ended::AllButLittle);
        assert!(!is_due(LOG_PAGES_MIN - 1, 0, LONG_AGO), "too little");
        assert!(is_due(LOG_PAGES_MIN, 0, EVERY) && !is_due(LOG_PAGES_MIN, 0, Duration::ZERO));
        assert!(is_due(LOG_PAGES_ENOUGH, 0, Duration::ZERO));
        assert!(
            !is_due(LOG_PAGES_ENOUGH, LOG_PAGES_ENOUGH, LONG_AGO),
            "what is copied is not copied again and again"
        );
        let blocked = with(LOG_PAGES_ENOUGH, 0).state();
        assert!(!blocked.is_due(Duration::ZERO, Ended::Early), "it is no use to hurry");
        assert!(blocked.is_due(EVERY, Ended::Early));
    }

    #[test]
    fn the_writer_is_asked_once_and_never_for_much() {
        let log = with(10_000, 9_900);
        assert!(!log.is_to_be_finished(), "nobody has asked yet");
        log.ask_to_finish(log.state());
        assert!(log.is_to_be_finished() && !log.is_to_be_finished());
        log.ask_to_finish(log.state());
        log.has(20_000);
        assert!(!log.is_to_be_finished(), "much has come since");
        log.ask_to_finish(log.state());
        log.has(LOG_PAGES_MAX + 1);
        assert!(log.is_to_be_finished(), "but no log grows for ever");
    }

    #[test]
    fn a_log_that_was_begun_anew_has_nothing_copied() {
        let log = with(10_000, 10_000);
        let before = log.state();
        log.ask_to_finish(before);
        log.has(3);
        assert_eq!(log.state().left(), 3);
        assert!(!log.is_to_be_finished());
        log.was_copied(before, 10_000);
        log.ask_to_finish(before);
        assert_eq!(log.state().left(), 3, "that was another log");
        assert!(!log.is_to_be_finished());
        log.has(10);
        log.was_finished(9);
        assert_eq!(log.state().pages, 10, "somebody still reads what is left");
        log.was_finished(10);
        assert_eq!(log.state().pages, 0);
    }

    /// A database whose writer tells the log of its pages, with a table to fill.
    fn database(folder: &Path) -> (Connection, Arc<Log>, Checkpointer) {
        let path = folder.join("test.db");
        let mut writer = sqlite::open_writer(&path).unwrap();
        let log = Arc::new(Log::default());
        let hooked = Arc::clone(&log);
        let hook = move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
            hooked.has(u64::try_from(pages).unwrap());
            Ok(())
        };
        writer.wal_hook(Some(hook)).unwrap();
        writer.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)").unwrap();
        let (fail, _) = watch::channel(false);
        let files = Files::open(&path).unwrap();
        let checkpointer = Checkpointer::open(&path, Arc::clone(&log), fail, files).unwrap();
        (writer, log, checkpointer)
    }

    const FILL: &str =
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t (text) SELECT hex(randomblob(500)) FROM n";

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    /// The pages of frames as they stand in the log itself.
    fn pages_in_log(path: &Path, frames: Range<u64>) -> Vec<u64> {
        const HEAD_BYTES: u64 = 32;
        const FRAME_BYTES: u64 = 24 + PAGE_BYTES;
        let log = File::open(path).unwrap();
        let mut pages = std::collections::BTreeSet::new();
        for frame in frames {
            let mut number = [0; 4];
            log.read_exact_at(&mut number, HEAD_BYTES + frame * FRAME_BYTES).unwrap();
            pages.insert(u64::from(u32::from_be_bytes(number)));
        }
        pages.into_iter().collect()
    }

    #[test]
    fn the_index_of_the_log_names_the_pages_of_its_frames() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, log, checkpointer) = database(folder.path());
        while log.state().pages < 3 * BLOCK_PAGES {
            writer.execute_batch(FILL).unwrap();
        }
        let (end, first) = (log.state().pages, BLOCK_PAGES - HEAD_PAGES);
        let second = first + BLOCK_PAGES;
        for frames in
            [0..1, 0..end, first - 1..first, first..first + 1, 7..second, second - 3..second + 3]
        {
            let in_log = pages_in_log(&folder.path().join("test.db-wal"), frames.clone());
            assert_eq!(
                pages_of(&checkpointer.files.index, frames.clone()).unwrap(),
                in_log,
                "{frames:?}"
            );
        }
        assert_eq!(pages_of(&checkpointer.files.index, 5..5).unwrap(), Vec::<u64>::new());
    }

    #[test]
    fn whatever_the_log_holds_is_in_the_file_after_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, log, checkpointer) = database(folder.path());
        for rows in [3_000, 6_000] {
            writer.execute_batch(FILL).unwrap();
            let pages = pages_of(&checkpointer.files.index, 0..log.state().pages).unwrap();
            let size: i64 = writer.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
            let size = u64::try_from(size).unwrap();
            assert!(pages.is_sorted_by(|a, b| a < b) && pages.last() == Some(&size), "{pages:?}");
            assert_eq!(checkpointer.checkpoint().unwrap(), Ended::AllButLittle);
            assert_eq!(log.state().left(), 0);
            // The file without its log.
            let alone = folder.path().join(format!("alone-{rows}.db"));
            std::fs::copy(folder.path().join("test.db"), &alone).unwrap();
            assert_eq!(count(&Connection::open(alone).unwrap()), rows);
            // As the writer does once it is asked to.
            assert!(log.is_to_be_finished());
            log.was_finished(sqlite::checkpoint(&writer).unwrap());
            assert_eq!(log.state().pages, 0);
        }
    }

    #[test]
    fn the_locks_stay_for_as_long_as_anybody_holds_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, _, checkpointer) = database(folder.path());
        let index = folder.path().join("test.db-shm").metadata().unwrap();
        let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&index));
        let is_locked = || std::fs::read_to_string("/proc/locks").unwrap().contains(&inode);
        let files = Arc::clone(&checkpointer.files);
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        drop(checkpointer);
        assert!(is_locked());
        // What would come of closing them while the writer still works.
        drop(files);
        assert!(!is_locked());
    }

    #[test]
    fn what_somebody_still_reads_ends_a_checkpoint_early_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, log, checkpointer) = database(folder.path());
        writer.execute_batch(FILL).unwrap();
        let reader = sqlite::open_reader(&folder.path().join("test.db")).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(count(&reader), 3_000);
        for _ in 0..2 {
            writer.execute_batch(FILL).unwrap();
        }
        for _ in 0..2 {
            assert_eq!(checkpointer.checkpoint().unwrap(), Ended::Early);
            assert!(log.state().left() > 2 * FINISH_PAGES_MAX, "{}", log.state().left());
            assert!(!log.is_to_be_finished(), "the writer could copy no more either");
        }
        assert_eq!(count(&reader), 3_000);
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(checkpointer.checkpoint().unwrap(), Ended::AllButLittle);
        assert_eq!(log.state().left(), 0);
        assert_eq!(count(&reader), 9_000);
    }
}
