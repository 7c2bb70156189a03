//! The heads and signatures of full blocks whose segment is not sealed yet, in memory.
//!
//! A block's head and signature never change once it is stored, so what is known already is right
//! in whatever state of the file a search sees; it only has to leave out later blocks.

use rusqlite::{Connection, Row};

use super::block::Head;
use super::shape::ContainmentShape;
use super::signature;
use super::slots::{SLOTS_MAX, Slots};
use crate::error::Result;

/// The blocks of a segment that is not sealed yet, as far as they are known.
pub(super) struct Young {
    /// By slot.
    pub(super) heads: Vec<Head>,
    /// The blocks that have a bit in their signature, by bit.
    slices: Vec<Slots>,
}

impl Young {
    /// Without a block.
    pub(super) fn new(shape: ContainmentShape) -> Self {
        Self { heads: Vec::new(), slices: vec![Slots::default(); shape.signature_bits] }
    }

    /// Learns of the blocks of a segment up to, but not including, `end`.
    pub(super) fn learn(&mut self, tx: &Connection, first: i64, end: i64) -> Result<()> {
        let known = i64::try_from(self.heads.len()).unwrap_or(i64::MAX);
        if first.saturating_add(known) >= end {
            return Ok(());
        }
        let mut select = tx.prepare_cached(
            "SELECT workspace, thread, newest_ms, oldest_ms, row_min, row_max, signature
             FROM recent WHERE block >= ?1 AND block < ?2 ORDER BY block",
        )?;
        let mut rows = select.query([first.saturating_add(known), end])?;
        while let Some(row) = rows.next()? {
            let slot = self.heads.len();
            for bit in signature::bits_of(row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?)
            {
                self.slices.get_mut(bit).into_iter().for_each(|slots| slots.add(slot));
            }
            self.heads.push(head(row)?);
            if self.heads.len() == SLOTS_MAX {
                break;
            }
        }
        Ok(())
    }

    /// The blocks that have a bit in their signature.
    pub(super) fn slots_with(&self, bit: usize) -> Slots {
        self.slices.get(bit).copied().unwrap_or_default()
    }
}

/// The head in the first six columns of a row.
pub(super) fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        workspace: row.get(0)?,
        thread: row.get(1)?,
        newest_ms: row.get(2)?,
        oldest_ms: row.get(3)?,
        row_min: row.get(4)?,
        row_max: row.get(5)?,
    })
}
