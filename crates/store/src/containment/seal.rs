//! Sealing: the signatures of a segment's blocks, stored bit by bit.

use rusqlite::{Connection, params};

use super::block::{Head, View};
use super::directory::Directory;
use super::shape::ContainmentShape;
use super::signature::{Label, Signature};
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
    let first = segment.saturating_mul(blocks);
    let heads = heads(&tx, first, first.saturating_add(blocks))?;
    if heads.len() != shape.segment_blocks {
        return Err(StoreError::Corrupt { what: "segment of the containment index" });
    }
    let newest_ms = heads.iter().map(|head| head.newest_ms).max();
    let oldest_ms = heads.iter().map(|head| head.oldest_ms).min();
    store_slices(&tx, segment, first, shape)?;
    tx.prepare_cached(
        "INSERT INTO segment (segment, newest_ms, oldest_ms, heads) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![segment, newest_ms, oldest_ms, Directory::new(heads).encode()])?;
    tx.prepare_cached("DELETE FROM recent WHERE block >= ?1 AND block < ?2")?
        .execute([first, first.saturating_add(blocks)])?;
    tx.commit()?;
    Ok(true)
}

fn heads(tx: &Connection, first: i64, end: i64) -> Result<Vec<Head>> {
    let mut select = tx.prepare_cached(
        "SELECT workspace, thread, newest_ms, oldest_ms, row_min, row_max FROM recent
         WHERE block >= ?1 AND block < ?2 ORDER BY block",
    )?;
    let heads = select.query_map([first, end], |row| {
        Ok(Head {
            workspace: row.get(0)?,
            thread: row.get(1)?,
            newest_ms: row.get(2)?,
            oldest_ms: row.get(3)?,
            row_min: row.get(4)?,
            row_max: row.get(5)?,
        })
    })?;
    Ok(heads.collect::<rusqlite::Result<_>>()?)
}

fn store_slices(tx: &Connection, segment: i64, first: i64, shape: ContainmentShape) -> Result<()> {
    let slice_bytes = shape.segment_blocks / 8;
    let mut slices = vec![0_u8; shape.signature_bits * slice_bytes];
    let mut signature = Signature::new(shape.signature_bits);
    let mut select = tx.prepare_cached("SELECT data FROM block WHERE block = ?1")?;
    for (block, slot) in (first..).zip(0..shape.segment_blocks) {
        signature.clear();
        select.query_row([block], |row| Ok(sign(&mut signature, row.get_ref(0)?.as_blob()?)))??;
        for bit in signature.bits() {
            if let Some(byte) = slices.get_mut(bit * slice_bytes + slot / 8) {
                *byte |= 1 << (slot % 8);
            }
        }
    }
    let mut insert =
        tx.prepare_cached("INSERT INTO slice (segment, bit, slots) VALUES (?1, ?2, ?3)")?;
    for (bit, slots) in slices.chunks_exact(slice_bytes).enumerate() {
        if slots.iter().any(|byte| *byte != 0) {
            insert.execute(params![segment, i64::try_from(bit).unwrap_or(0), slots])?;
        }
    }
    Ok(())
}

fn sign(signature: &mut Signature, data: &[u8]) -> Result<()> {
    let view = View::new(data)?;
    for index in 0..view.count() {
        signature.add_text(view.text(index)?);
        view.sender(index).into_iter().for_each(|id| signature.add_label(Label::Sender(id)));
        let content_type = view.content_type(index).into_iter();
        content_type.for_each(|code| signature.add_label(Label::ContentType(code)));
    }
    Ok(())
}
