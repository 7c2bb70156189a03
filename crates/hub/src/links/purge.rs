//! Deleting what a link brought, in portions, so that nobody else has to wait for long.

use protocol::Timestamp;
use protocol::limits::links as limits;
use store::StoreError;
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

/// Deletes a link and everything under it, for as long as a request may take. Calling again goes on.
pub(super) async fn purge(call: &Call, link_row: i64, name: &str) -> Result<Purged> {
    let mut purged = Purged::default();
    let began = Instant::now();
    while began.elapsed() < limits::PURGE_TIME_MAX {
        let (messages, chats) = portion(call, link_row, call.now()).await?;
        purged.messages += messages;
        purged.chats += chats;
        // The index of chats follows the changes; this wakes it.
        call.hub.live.announce_everyone();
        if messages == 0 && chats == 0 {
            finish(call, link_row, name.to_owned()).await?;
            purged.is_done = true;
            break;
        }
    }
    Ok(purged)
}

/// Messages first: a chat goes when it is empty.
async fn portion(call: &Call, link_row: i64, now: Timestamp) -> Result<(u64, u64)> {
    let work = move |tx: &mut store::Tx<'_>| {
        let messages = tx.purge_messages(link_row, now, limits::PURGE_BATCH_MAX)?;
        if messages > 0 {
            return Ok((messages, 0));
        }
        let chats = tx.purge_chats(link_row, limits::PURGE_BATCH_MAX)?;
        if chats > 0 {
            return Ok((0, chats));
        }
        // What the link said is counted as messages.
        Ok::<_, StoreError>((tx.purge_deliveries(link_row, limits::PURGE_BATCH_MAX)?, 0))
    };
    Ok(call.hub.store.write(work).await?)
}

async fn finish(call: &Call, link_row: i64, name: String) -> Result<()> {
    let workspace = call.caller().workspace_id.clone();
    let work = move |tx: &mut store::Tx<'_>| {
        tx.purge_people(&workspace, &name)?;
        tx.forget_imports(&workspace, &name)?;
        tx.purge_lease(link_row)?;
        tx.forget_reconcile(link_row)?;
        tx.delete_link(link_row)
    };
    Ok(call.hub.store.write(work).await?)
}
