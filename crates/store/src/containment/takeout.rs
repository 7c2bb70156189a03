//! Taking messages out, because they were deleted or come in again with another text.
//!
//! A message is looked for in the blocks of its thread whose rows reach around it. The bits that it
//! has left in a signature, and the time range of its block, do no harm.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::block::{self, Entry, Head, View};
use super::directory::Directories;
use super::indexer::{delete_tail, store_tail, tail};
use super::shape::ContainmentShape;
use crate::error::Result;

/// A full block: its number, its thread and its range of rows.
type Reach = (i64, i64, (i64, i64));

/// The rows to take out, by thread.
#[derive(Default)]
pub(super) struct Takeout {
    rows: HashMap<i64, Vec<i64>>,
}

impl Takeout {
    /// Names a message.
    pub(super) fn add(&mut self, thread: i64, row: i64) {
        self.rows.entry(thread).or_default().push(row);
    }

    /// Takes out what was named, as far as it is there.
    pub(super) fn run(
        mut self,
        tx: &Connection,
        directories: &Directories,
        shape: ContainmentShape,
    ) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.rows.values_mut().for_each(|rows| rows.sort_unstable());
        for thread in self.rows.keys().copied().collect::<Vec<_>>() {
            self.take_from_tail(tx, thread)?;
        }
        let mut blocks = recent_blocks(tx)?;
        blocks.retain(|(_, thread, rows)| self.reaches(*thread, *rows));
        self.find_sealed(tx, directories, shape, &mut blocks)?;
        for (block, thread, rows) in blocks {
            // What was found already is not looked for again.
            if self.reaches(thread, rows) {
                self.take_from_block(tx, block, thread)?;
            }
        }
        Ok(())
    }

    /// Whether a range of a thread's rows holds a row that is still looked for.
    fn reaches(&self, thread: i64, (row_min, row_max): (i64, i64)) -> bool {
        self.rows.get(&thread).is_some_and(|rows| {
            let first = rows.partition_point(|row| *row < row_min);
            rows.get(first).is_some_and(|row| *row <= row_max)
        })
    }

    fn find_sealed(
        &self,
        tx: &Connection,
        directories: &Directories,
        shape: ContainmentShape,
        blocks: &mut Vec<Reach>,
    ) -> Result<()> {
        let mut select = tx.prepare_cached("SELECT segment FROM segment ORDER BY segment DESC")?;
        let segments = select.query_map([], |row| row.get(0))?;
        for segment in segments.collect::<rusqlite::Result<Vec<i64>>>()? {
            let directory = directories.get(tx, segment)?;
            let first = shape.first_block(segment);
            for thread in self.rows.keys() {
                for slot in directory.slots_of(*thread) {
                    let Some(head) = directory.heads.get(slot) else { continue };
                    let rows = (head.row_min, head.row_max);
                    if self.reaches(*thread, rows) {
                        blocks.push((first + i64::try_from(slot).unwrap_or(0), *thread, rows));
                    }
                }
            }
        }
        Ok(())
    }

    fn take_from_tail(&mut self, tx: &Connection, thread: i64) -> Result<()> {
        let Some((workspace, data)) = tail(tx, thread)? else { return Ok(()) };
        let Some(kept) = self.keep(thread, &data)? else { return Ok(()) };
        match Head::of(workspace, thread, &kept) {
            Some(head) => store_tail(tx, &head, &block::encode(&kept)?),
            None => delete_tail(tx, thread),
        }
    }

    fn take_from_block(&mut self, tx: &Connection, block: i64, thread: i64) -> Result<()> {
        let data: Vec<u8> = tx
            .prepare_cached("SELECT data FROM block WHERE block = ?1")?
            .query_row([block], |row| row.get(0))?;
        let Some(kept) = self.keep(thread, &data)? else { return Ok(()) };
        tx.prepare_cached("UPDATE block SET data = ?2 WHERE block = ?1")?
            .execute(params![block, block::encode(&kept)?])?;
        Ok(())
    }

    /// What a block keeps; `None` when it keeps everything. What goes is not looked for any more.
    fn keep<'a>(&mut self, thread: i64, data: &'a [u8]) -> Result<Option<Vec<Entry<'a>>>> {
        let Some(rows) = self.rows.get_mut(&thread) else { return Ok(None) };
        let mut kept = View::new(data)?.entries()?;
        let before = kept.len();
        kept.retain(|entry| {
            let found = rows.binary_search(&entry.row);
            if let Ok(at) = found {
                rows.remove(at);
            }
            found.is_err()
        });
        Ok((kept.len() < before).then_some(kept))
    }
}

/// The blocks that are not sealed yet.
fn recent_blocks(tx: &Connection) -> Result<Vec<Reach>> {
    let mut select =
        tx.prepare_cached("SELECT block, thread, row_min, row_max FROM recent ORDER BY block")?;
    let blocks =
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, (row.get(2)?, row.get(3)?))))?;
    Ok(blocks.collect::<rusqlite::Result<_>>()?)
}
