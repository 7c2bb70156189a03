//! Sealing: the signatures of a segment's blocks, stored bit by bit.

use rusqlite::{Connection, params};

use super::block::Head;
use super::directory::Directory;
use super::shape::ContainmentShape;
use super::slots::Slots;
use super::young::Young;
use crate::error::{Result, StoreError};

/// Seals the oldest segment that is full and loose; `false` when there is none.
pub(super) fn seal_one(connection: &mut Connection, shape: ContainmentShape) -> Result<bool> {
    let tx = connection.transaction()?;
    let blocks = i64::try_from(shape.segment_blocks).unwrap_or(i64::MAX);
    let count: i64 =
        tx.prepare_cached("SELECT count(*) FROM recent")?.query_row([], |row| row.get(0))?;
    if count < blocks {
        return Ok(false);
    }
    let segment: i64 = tx
        .prepare_cached("SELECT coalesce(max(segment) + 1, 0) FROM segment")?
        .query_row([], |row| row.get(0))?;
    let first = shape.first_block(segment);
    let heads = store_slices(&tx, segment, first, shape)?;
    if heads.len() != shape.segment_blocks {
        return Err(StoreError::Corrupt { what: "segment of the containment index" });
    }
    let newest_ms = heads.iter().map(|head| head.newest_ms).max();
    let oldest_ms = heads.iter().map(|head| head.oldest_ms).min();
    tx.prepare_cached(
        "INSERT INTO segment (segment, newest_ms, oldest_ms, heads) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![segment, newest_ms, oldest_ms, Directory::new(heads).encode()])?;
    tx.prepare_cached("DELETE FROM recent WHERE block >= ?1 AND block < ?2")?
        .execute([first, first.saturating_add(blocks)])?;
    tx.commit()?;
    Ok(true)
}

fn store_slices(
    tx: &Connection,
    segment: i64,
    first: i64,
    shape: ContainmentShape,
) -> Result<Vec<Head>> {
    let end = first.saturating_add(i64::try_from(shape.segment_blocks).unwrap_or(i64::MAX));
    let mut young = Young::new(shape);
    young.learn(tx, first, end)?;
    let mut insert =
        tx.prepare_cached("INSERT INTO slice (segment, bit, slots) VALUES (?1, ?2, ?3)")?;
    for bit in 0..shape.signature_bits {
        let slots = young.slots_with(bit);
        if slots != Slots::default() {
            let slots = slots.to_bytes();
            let slots = slots.get(..shape.segment_blocks / 8);
            insert.execute(params![segment, i64::try_from(bit).unwrap_or(i64::MAX), slots])?;
        }
    }
    Ok(young.heads)
}
