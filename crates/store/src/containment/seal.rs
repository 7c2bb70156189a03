//! Sealing: the signatures of a segment's blocks, stored bit by bit.

use rusqlite::{Connection, params};

use super::block::Head;
use super::directory::Directory;
use super::shape::{ContainmentShape, SLAB_SLICES};
use super::young::Young;
use crate::error::{Result, StoreError};

/// Segments sealed in one go; a batch of very long messages fills several.
const SEALED_AT_ONCE_MAX: usize = 32;

/// Seals the segments that are full.
pub(super) fn seal(connection: &mut Connection, shape: ContainmentShape) -> Result<()> {
    for _ in 0..SEALED_AT_ONCE_MAX {
        if !seal_one(connection, shape)? {
            break;
        }
    }
    Ok(())
}

/// Seals the oldest segment that is full and not sealed; `false` when there is none.
fn seal_one(connection: &mut Connection, shape: ContainmentShape) -> Result<bool> {
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
    let mut insert = tx.prepare_cached("INSERT INTO slab (slab, slices) VALUES (?1, ?2)")?;
    let bits: Vec<usize> = (0..shape.signature_bits).collect();
    for bits in bits.chunks(SLAB_SLICES) {
        let Some(first) = bits.first() else { continue };
        let slices: Vec<u8> = bits
            .iter()
            .flat_map(|bit| young.slots_with(*bit).to_bytes().into_iter().take(shape.slice_bytes()))
            .collect();
        insert.execute(params![shape.slab_of(segment, *first).0, slices])?;
    }
    Ok(young.heads)
}
