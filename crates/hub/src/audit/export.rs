//! Exports the trail as JSON lines: each seal's entries, then the seal.

use std::io::Write;

use protocol::limits;
use serde::Serialize;
use store::{AuditRow, SealRow, Store, StoreError};

use super::error::AuditError;
use super::record::{EntryRecord, SealRecord};

/// What an export holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines of entries.
    pub entries: u64,
    /// Lines of seals.
    pub seals: u64,
}

/// One line.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entry(EntryRecord),
    Seal(SealRecord),
}

/// Writes the entries from one number to another, both included, with the seals over them.
///
/// Reads a part at a time, so the trail may be larger than memory. Writing blocks; a slow `out` belongs
/// on a thread of its own.
pub async fn export(
    store: &Store,
    from: Option<i64>,
    to: Option<i64>,
    out: &mut (impl Write + ?Sized),
) -> Result<Exported, AuditError> {
    let (mut from, to) = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
    let mut exported = Exported::default();
    while from <= to {
        let part = read_part(store, from, to).await?;
        let is_last = part.is_last;
        from = part.next;
        exported.entries += part.entries.len() as u64;
        for row in part.entries {
            write_line(out, &Line::Entry(row.into()))?;
        }
        if let Some(seal) = part.seal {
            exported.seals += 1;
            write_line(out, &Line::Seal(seal.into()))?;
        }
        if is_last {
            break;
        }
    }
    out.flush().map_err(AuditError::Output)?;
    Ok(exported)
}

/// Some entries of one seal, and the seal when they reach its end or the export's.
struct Part {
    entries: Vec<AuditRow>,
    seal: Option<SealRow>,
    next: i64,
    is_last: bool,
}

async fn read_part(store: &Store, from: i64, to: i64) -> Result<Part, AuditError> {
    let work = move |tx: &mut store::Tx<'_>| {
        let seal = match tx.seal_covering(from)? {
            Some(id) => tx.seal(id)?,
            None => None,
        };
        let end = seal.as_ref().map_or(to, |seal| seal.last_id.min(to));
        let entries = tx.audit_between(from, end, limits::AUDIT_SEAL_ENTRIES_MAX)?;
        let is_full = entries.len() == limits::AUDIT_SEAL_ENTRIES_MAX;
        let last = entries.last().filter(|_| is_full).map_or(end, |row| row.id);
        let reaches_end = last >= end;
        Ok::<_, StoreError>(Part {
            is_last: reaches_end && (seal.is_none() || end >= to),
            seal: seal.filter(|seal| reaches_end && seal.first_id <= to),
            entries,
            next: last.saturating_add(1),
        })
    };
    Ok(store.read(work).await?)
}

fn write_line(out: &mut (impl Write + ?Sized), line: &Line) -> Result<(), AuditError> {
    serde_json::to_writer(&mut *out, line).map_err(|error| AuditError::Output(error.into()))?;
    out.write_all(b"\n").map_err(AuditError::Output)
}
