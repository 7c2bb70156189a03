//! Taking memories and pieces into the view: rows and progress in one transaction.

use rusqlite::{Connection, OptionalExtension, params};

use super::request::MemoryDoc;
use super::schema;
use crate::error::{Result, StoreError};
use crate::memories::MemoryItem;
use crate::search::words::{self, Side};

/// The key of something in the view.
pub(super) fn key(item: MemoryItem) -> Result<i64> {
    item.row()
        .checked_mul(2)
        .map(|key| key + item.what())
        .filter(|key| *key > 1)
        .ok_or(StoreError::Corrupt { what: "row of a memory" })
}

/// What a key is of.
pub(super) fn item(key: i64) -> MemoryItem {
    if key % 2 == 0 { MemoryItem::Memory(key / 2) } else { MemoryItem::Piece(key / 2) }
}

/// What changed in memory as well once it is committed.
#[derive(Default)]
pub(super) struct Applied {
    /// Where the view goes to now.
    pub(super) upto: i64,
    /// Keys with the areas they were in before.
    pub(super) gone: Vec<(i64, i64)>,
    /// Documents with the areas they are in now.
    pub(super) come: Vec<(i64, usize)>,
}

/// Takes documents in and others out, and remembers how far the trail has been read; all or nothing.
pub(super) fn apply(
    connection: &mut Connection,
    docs: &[MemoryDoc],
    gone: &[MemoryItem],
    upto: i64,
) -> Result<Applied> {
    let tx = connection.transaction()?;
    let mut applied = Applied::default();
    for item in gone {
        let key = key(*item)?;
        applied.gone.extend(remove(&tx, key)?.map(|area| (area, key)));
    }
    for (place, doc) in docs.iter().enumerate() {
        let key = key(doc.item)?;
        applied.gone.extend(remove(&tx, key)?.map(|area| (area, key)));
        let area = schema::add_area(&tx, &doc.area)?;
        insert(&tx, area, key, doc)?;
        applied.come.push((area, place));
    }
    tx.prepare_cached("UPDATE progress SET upto = max(upto, ?1)")?.execute([upto])?;
    applied.upto = schema::indexed_upto(&tx)?;
    tx.commit()?;
    Ok(applied)
}

/// Takes something out; answers the area it was in.
fn remove(tx: &Connection, key: i64) -> Result<Option<i64>> {
    let area: Option<i64> = tx
        .prepare_cached("SELECT area FROM doc WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    let Some(area) = area else { return Ok(None) };
    tx.prepare_cached("DELETE FROM doc WHERE key = ?1")?.execute([key])?;
    tx.prepare_cached(&format!("DELETE FROM words_{area} WHERE rowid = ?1"))?.execute([key])?;
    Ok(Some(area))
}

fn insert(tx: &Connection, area: i64, key: i64, doc: &MemoryDoc) -> Result<()> {
    let bytes: Vec<u8> = doc.vector.values.iter().map(|value| value.cast_unsigned()).collect();
    tx.prepare_cached(
        "INSERT INTO doc (key, area, thread, embedding, vector) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![key, area, doc.thread_row.unwrap_or(0), doc.vector.embedding, bytes])?;
    let text = words::split(&doc.text, Side::Message).text;
    tx.prepare_cached(&format!("INSERT INTO words_{area} (rowid, text) VALUES (?1, ?2)"))?
        .execute(params![key, text])?;
    Ok(())
}
