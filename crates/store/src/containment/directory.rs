//! The heads of a sealed segment's blocks, in memory: they never change once the segment is sealed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::limits;
use rusqlite::Connection;

use super::block::Head;
use super::shape::ContainmentShape;
use super::slots::SLOTS_MAX;
use super::young::Young;
use crate::error::{Result, StoreError};

/// Bytes of one head.
const HEAD_BYTES: usize = 4 + 5 * 8;
/// Segments that are not sealed, kept in memory; there is hardly ever more than one.
const YOUNG_MAX: usize = 4;
const CORRUPT: StoreError = StoreError::Corrupt { what: "segment of the containment index" };

/// The heads of a sealed segment's blocks.
pub(super) struct Directory {
    /// By slot.
    pub(super) heads: Vec<Head>,
    /// The slots of each thread, sorted.
    by_thread: Vec<(i64, u16)>,
}

impl Directory {
    /// From heads by slot.
    pub(super) fn new(heads: Vec<Head>) -> Self {
        let threads = heads.iter().map(|head| head.thread);
        let mut by_thread: Vec<(i64, u16)> = threads.zip(0..).collect();
        by_thread.sort_unstable();
        Self { heads, by_thread }
    }

    /// The slots of a thread's blocks.
    pub(super) fn slots_of(&self, thread: i64) -> impl Iterator<Item = usize> {
        let from = self.by_thread.partition_point(|(found, _)| *found < thread);
        let rest = self.by_thread.get(from..).unwrap_or_default().iter();
        rest.take_while(move |(found, _)| *found == thread).map(|(_, slot)| usize::from(*slot))
    }

    /// As it is stored.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.heads.len() * HEAD_BYTES);
        for head in &self.heads {
            bytes.extend(head.workspace.to_le_bytes());
            let numbers = [head.thread, head.newest_ms, head.oldest_ms, head.row_min, head.row_max];
            bytes.extend(numbers.into_iter().flat_map(i64::to_le_bytes));
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (heads, rest) = bytes.as_chunks::<HEAD_BYTES>();
        if !rest.is_empty() || heads.len() > SLOTS_MAX {
            return None;
        }
        heads.iter().map(decode_head).collect::<Option<Vec<Head>>>().map(Self::new)
    }
}

fn decode_head(bytes: &[u8; HEAD_BYTES]) -> Option<Head> {
    let (workspace, numbers) = bytes.split_first_chunk::<4>()?;
    let [thread, newest_ms, oldest_ms, row_min, row_max] = numbers.as_chunks::<8>().0 else {
        return None;
    };
    Some(Head {
        workspace: u32::from_le_bytes(*workspace),
        thread: i64::from_le_bytes(*thread),
        newest_ms: i64::from_le_bytes(*newest_ms),
        oldest_ms: i64::from_le_bytes(*oldest_ms),
        row_min: i64::from_le_bytes(*row_min),
        row_max: i64::from_le_bytes(*row_max),
    })
}

/// The directories of one file, shared by all threads that work with it.
#[derive(Default)]
pub(super) struct Directories {
    known: Mutex<HashMap<i64, Arc<Directory>>>,
    young: Mutex<BTreeMap<i64, Young>>,
}

impl Directories {
    /// Reads the directories of the newest segments.
    pub(super) fn load(&self, connection: &Connection) -> Result<()> {
        let mut select = connection
            .prepare_cached("SELECT segment FROM segment ORDER BY segment DESC LIMIT ?1")?;
        let most = i64::try_from(limits::containment::DIRECTORIES_KEPT_MAX).unwrap_or(i64::MAX);
        let segments = select.query_map([most], |row| row.get(0))?;
        for segment in segments.collect::<rusqlite::Result<Vec<i64>>>()? {
            self.get(connection, segment)?;
        }
        Ok(())
    }

    /// The directory of a segment that is sealed in what the connection sees.
    pub(super) fn get(&self, connection: &Connection, segment: i64) -> Result<Arc<Directory>> {
        if let Some(directory) = self.known.lock().get(&segment) {
            return Ok(Arc::clone(directory));
        }
        let mut select =
            connection.prepare_cached("SELECT heads FROM segment WHERE segment = ?1")?;
        let directory = select.query_row([segment], |row| {
            Ok(row.get_ref(0)?.as_blob().ok().and_then(Directory::decode))
        })?;
        let directory = Arc::new(directory.ok_or(CORRUPT)?);
        let mut known = self.known.lock();
        if known.len() >= limits::containment::DIRECTORIES_KEPT_MAX {
            known.clear();
        }
        known.insert(segment, Arc::clone(&directory));
        drop(known);
        // Only a search that began before the segment was sealed still asks for it as a young one,
        // and learns it anew.
        self.young.lock().remove(&segment);
        Ok(directory)
    }

    /// Works with the blocks of a segment that is not sealed in what the connection sees, up to,
    /// but not including, `end`.
    pub(super) fn with_young<T>(
        &self,
        connection: &Connection,
        shape: ContainmentShape,
        segment: i64,
        end: i64,
        work: impl FnOnce(&Young) -> T,
    ) -> Result<T> {
        let mut segments = self.young.lock();
        if segments.len() > YOUNG_MAX {
            segments.clear();
        }
        let young = segments.entry(segment).or_insert_with(|| Young::new(shape));
        young.learn(connection, shape.first_block(segment), end)?;
        Ok(work(young))
    }
}
