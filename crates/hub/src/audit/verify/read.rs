//! Reading a trail that may have been damaged on purpose: what cannot be read is named, not tripped over.

use protocol::audit::Hash;
use store::{AuditRow, SealRow, Store, StoreError, Tx};

use crate::audit::detail::DetailState;
use crate::audit::record::{detail_state, entry_hash};

/// An entry as it was found.
#[derive(Debug)]
pub(super) struct FoundEntry {
    pub(super) id: i64,
    /// The hash it has now; `None` when it cannot be read.
    pub(super) hash: Option<Hash>,
    /// How its detail stands to the commitment to it.
    pub(super) detail: DetailState,
    /// What it says; `None` when it cannot be read.
    pub(super) row: Option<AuditRow>,
}

impl From<AuditRow> for FoundEntry {
    fn from(row: AuditRow) -> Self {
        let (hash, detail) = (entry_hash(&row, row.id), detail_state(&row));
        Self { id: row.id, hash: Some(hash), detail, row: Some(row) }
    }
}

/// A seal as it was found.
#[derive(Debug)]
pub(super) struct FoundSeal {
    pub(super) id: i64,
    /// What it says; `None` when it cannot be read.
    pub(super) row: Option<SealRow>,
}

/// The entries from one number to another, both included.
pub(super) async fn entries(
    store: &Store,
    (from, to): (i64, i64),
    limit: usize,
) -> Result<Vec<FoundEntry>, StoreError> {
    // The reading thread hashes too, so whoever waits for the answer is free meanwhile.
    let all = store
        .read(move |tx| {
            let rows = tx.audit_between(from, to, limit)?;
            Ok::<_, StoreError>(rows.into_iter().map(FoundEntry::from).collect())
        })
        .await;
    if let Ok(found) = all {
        return Ok(found);
    }
    let ids = read(store, move |tx| tx.audit_ids_between(from, to, limit)).await?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.push(match read(store, move |tx| tx.audit_entry(id)).await {
            Ok(Some(row)) => row.into(),
            Ok(None) => continue,
            Err(_) => {
                read(store, move |tx| tx.audit_ids_between(id, id, 1)).await?;
                FoundEntry { id, hash: None, detail: DetailState::Absent, row: None }
            }
        });
    }
    Ok(found)
}

/// Some seals from a number on.
pub(super) async fn seals(
    store: &Store,
    from: i64,
    limit: usize,
) -> Result<Vec<FoundSeal>, StoreError> {
    let ids = read(store, move |tx| tx.seal_ids_from(from, limit)).await?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        match read(store, move |tx| tx.seal(id)).await {
            Ok(Some(row)) => found.push(FoundSeal { id, row: Some(row) }),
            Ok(None) => {}
            Err(_) => {
                // A database that does not answer at all is no damaged seal.
                read(store, move |tx| tx.seal_ids_from(id, 1)).await?;
                found.push(FoundSeal { id, row: None });
            }
        }
    }
    Ok(found)
}

/// Runs one reading function.
pub(super) async fn read<T: Send + 'static>(
    store: &Store,
    work: impl Fn(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    store.read(work).await
}
