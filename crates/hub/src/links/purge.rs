//! Deleting what a link brought, in portions, so that nobody else has to wait for long.

use protocol::Timestamp;
use protocol::limits::links as limits;
use store::Tx;
use tokio::time::Instant;

use crate::call::Call;
use crate::error::Result;

/// What was deleted.
#[derive(Debug, Default)]
pub(super) struct Purged {
    pub(super) messages: u64,
    pub(super) chats: u64,
    pub(super) is_done: bool,
}

/// Deletes a link that is marked for it and everything under it, for as long as a request may take.
/// Calling again goes on.
pub(super) async fn purge(call: &Call, link_row: i64) -> Result<Purged> {
    let mut purged = Purged::default();
    let began = Instant::now();
    while !purged.is_done && began.elapsed() < limits::PURGE_TIME_MAX {
        let (workspace, now) = (call.caller().workspace_id.clone(), call.now());
        let work = move |tx: &mut Tx<'_>| portion(tx, &workspace, link_row, now);
        let portion = call.hub.store.write(work).await?;
        purged.messages += portion.messages;
        purged.chats += portion.chats;
        purged.is_done = portion.is_done;
        // The index of chats follows the changes; this wakes it.
        call.hub.live.announce_everyone();
    }
    Ok(purged)
}

/// Messages first: a chat goes when it is empty, and the link when nothing is left.
fn portion(
    tx: &mut Tx<'_>,
    workspace: &str,
    link_row: i64,
    now: Timestamp,
) -> store::Result<Purged> {
    let done = Purged { is_done: true, ..Purged::default() };
    // Another call may have come to the end before this one.
    let Some(link) = tx.link_by_row(workspace, link_row)?.filter(|link| link.is_being_purged)
    else {
        return Ok(done);
    };
    let messages = tx.purge_messages(link_row, now, limits::PURGE_BATCH_MAX)?;
    if messages > 0 {
        return Ok(Purged { messages, ..Purged::default() });
    }
    let chats = tx.purge_chats(link_row, limits::PURGE_BATCH_MAX)?;
    if chats > 0 {
        return Ok(Purged { chats, ..Purged::default() });
    }
    // What the link said is counted as messages.
    let messages = tx.purge_deliveries(link_row, limits::PURGE_BATCH_MAX)?;
    if messages > 0 {
        return Ok(Purged { messages, ..Purged::default() });
    }
    tx.purge_people(workspace, &link.name)?;
    tx.forget_imports(workspace, &link.name)?;
    tx.purge_lease(link_row)?;
    tx.forget_reconcile(link_row)?;
    tx.delete_link(link_row)?;
    Ok(done)
}
