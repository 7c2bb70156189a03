//! Brings the index of chats up to the log: messages as they arrive, then what was changed in them.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use protocol::chat::clean;
use protocol::limits;
use store::{
    ChatMessageRow, ContainmentDoc, ContainmentIndex, IndexProgress, RemovedDoc, Store, StoreError,
    Tx,
};
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::chats::content_code;
use crate::live::Live;

/// Messages taken in at once: enough to fill whole blocks of the index during an import.
const BATCH: usize = 4_000;
/// How long it rests after an error.
const STEP_ASIDE: Duration = Duration::from_millis(100);
/// Looks by itself now and then: another hub may have written to the same database.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(
    store: Store,
    index: ContainmentIndex,
    live: Arc<Live>,
    stop: CancellationToken,
) {
    let mut watch = live.watch();
    watch.add_chats();
    let mut trouble = Trouble::default();
    while !stop.is_cancelled() {
        match take_in(&store, &index).await {
            Ok(true) => trouble.is_over(),
            Ok(false) => {
                trouble.is_over();
                tokio::select! {
                    () = watch.changed() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
            Err(StoreError::Closed | StoreError::Failed) => return,
            Err(error) => {
                trouble.say(&error, "the index of chats fell behind; trying again");
                tokio::time::sleep(STEP_ASIDE).await;
            }
        }
    }
}

/// Takes in one batch; answers whether there may be more.
async fn take_in(store: &Store, index: &ContainmentIndex) -> Result<bool, StoreError> {
    let (settled, settled_change) = store
        .read(|tx| Ok::<_, StoreError>((tx.settled_message_row()?, tx.newest_change_row()?)))
        .await?;
    let before = index.progress();
    if settled < before.upto || settled_change < before.changes_upto {
        // The newest row never goes, so an older log was put back.
        index.begin_anew().await?;
        return Ok(true);
    }
    if settled <= before.upto && settled_change <= before.changes_upto {
        return Ok(false);
    }
    let batch = store.read(move |tx| read(tx, before, (settled, settled_change))).await?;
    let is_full = batch.progress.upto < settled || batch.progress.changes_upto < settled_change;
    index.index(batch.docs, batch.removed, batch.progress).await?;
    Ok(is_full)
}

struct Batch {
    docs: Vec<ContainmentDoc>,
    removed: Vec<RemovedDoc>,
    progress: IndexProgress,
}

/// What the log holds after what was taken in.
fn read(
    tx: &mut Tx<'_>,
    before: IndexProgress,
    (settled, settled_change): (i64, i64),
) -> Result<Batch, StoreError> {
    let mut reader = Reader { tx, workspaces: HashMap::new(), senders: HashSet::new() };
    let rows = reader.tx.chat_log_after(before.upto, settled, BATCH)?;
    let upto = rows.last().filter(|_| rows.len() == BATCH).map_or(settled, |last| last.row);
    let mut docs = Vec::with_capacity(rows.len());
    for row in rows {
        docs.push(reader.doc(row)?);
    }
    let changes = reader.tx.changes_after(before.changes_upto, BATCH)?;
    let last_change = changes.last().filter(|_| changes.len() == BATCH);
    let changes_upto = last_change.map_or(settled_change, |last| last.row);
    let mut removed = Vec::new();
    for change in changes.into_iter().filter(|change| change.message_row <= upto) {
        // A change says that something happened; what the message says now stands in the message.
        match reader.tx.chat_message_of_row(change.message_row)? {
            Some(row) if !row.body.is_empty() => docs.push(reader.doc(row)?),
            _ => {
                removed.push(RemovedDoc { row: change.message_row, thread_row: change.thread_row });
            }
        }
    }
    docs.sort_by_key(|doc| doc.row);
    docs.dedup_by_key(|doc| doc.row);
    Ok(Batch { docs, removed, progress: IndexProgress { upto, changes_upto } })
}

struct Reader<'t, 'c> {
    tx: &'t mut Tx<'c>,
    workspaces: HashMap<i64, Arc<str>>,
    senders: HashSet<Arc<str>>,
}

impl Reader<'_, '_> {
    fn doc(&mut self, row: ChatMessageRow) -> Result<ContainmentDoc, StoreError> {
        let (tx, thread_row) = (&mut *self.tx, row.thread_row);
        let workspace = match self.workspaces.entry(thread_row) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(place) => {
                let found = tx.thread_workspace(thread_row)?.unwrap_or_default();
                Arc::clone(place.insert(found.into()))
            }
        };
        let known = self.senders.get(row.sender.as_str()).map(Arc::clone);
        let sender = known.unwrap_or_else(|| {
            let sender: Arc<str> = row.sender.as_str().into();
            self.senders.insert(Arc::clone(&sender));
            sender
        });
        let content_type = content_code(row.details.as_deref());
        Ok(ContainmentDoc {
            row: row.row,
            thread_row: row.thread_row,
            workspace,
            sender,
            content_type,
            sent: row.sent,
            text: searchable(row.body),
        })
    }
}

/// What a caller sees is what is found, however much longer the message is.
fn searchable(body: String) -> String {
    if body.len() > limits::chats::TEXT_BYTES_MAX {
        return body;
    }
    match clean::clean(&body) {
        std::borrow::Cow::Borrowed(_) => body,
        std::borrow::Cow::Owned(cleaned) => cleaned,
    }
}
