//! A page of the trail, for somebody who reads on from its last entry.

use store::{AuditRow, Store, StoreError, Tx};

/// Entries of a workspace in their order: those after a number, or the newest.
///
/// It ends where no lower number can appear any more. On PostgreSQL an entry may commit after one with a
/// higher number, and whoever reads on from that one would never see it.
pub async fn page(
    store: &Store,
    workspace: &str,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<AuditRow>, StoreError> {
    // A transaction of its own: entries are read in a later one, which sees all that it waited for.
    let settled = store.read(|tx| tx.settled_audit_id()).await?;
    let workspace = workspace.to_owned();
    let work = move |tx: &mut Tx<'_>| {
        if let Some(after) = after {
            return tx.audit_of_workspace_between(&workspace, (after, settled), limit);
        }
        let mut rows = tx.audit_newest(&workspace, settled, limit)?;
        rows.reverse();
        Ok(rows)
    };
    store.read(work).await
}
