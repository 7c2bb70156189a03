//! Brings the view of memories and documents up to the trail of changes.

use std::sync::Arc;
use std::time::Duration;

use protocol::limits::memory as limits;
use protocol::relay::MemoryKind;
use store::{Area, AreaKind, MemoryDoc, MemoryItem, StoreError, Tx, Vector};
use tokio_util::sync::CancellationToken;

use super::embed;
use crate::duties::Trouble;
use crate::hub::Hub;

/// How long it rests after an error.
const STEP_ASIDE: Duration = Duration::from_millis(100);
/// Looks by itself now and then: another hub may have written to the same database.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut trouble = Trouble::default();
    while !stop.is_cancelled() {
        match take_in(&hub).await {
            Ok(0) => {
                trouble.is_over();
                tokio::select! {
                    () = hub.memory.index_bell.notified() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
            Ok(_) => trouble.is_over(),
            Err(StoreError::Closed | StoreError::Failed) => return,
            Err(error) => {
                trouble.say(&error, "the view of memories fell behind; trying again");
                tokio::time::sleep(STEP_ASIDE).await;
            }
        }
    }
}

/// Takes in one batch; answers how many changes it held.
async fn take_in(hub: &Arc<Hub>) -> Result<usize, StoreError> {
    let index = &hub.memory.index;
    let settled = hub.store.read(settled).await?;
    if settled < index.indexed_upto() {
        // The newest change never goes, so an older trail was put back.
        index.begin_anew().await?;
    }
    let upto = index.indexed_upto();
    if settled <= upto {
        return Ok(0);
    }
    let (docs, gone, count, last) = hub.store.read(move |tx| read(tx, upto, settled)).await?;
    let upto = if count == limits::INDEX_BATCH { last } else { settled };
    index.apply(docs, gone, upto).await?;
    Ok(count.max(1))
}

fn settled(tx: &mut Tx<'_>) -> Result<i64, StoreError> {
    tx.settled_memory_change()
}

type Batch = (Vec<MemoryDoc>, Vec<MemoryItem>, usize, i64);

fn read(tx: &mut Tx<'_>, after: i64, settled: i64) -> Result<Batch, StoreError> {
    let (mut docs, mut gone, mut count, mut last) = (Vec::new(), Vec::new(), 0, after);
    for change in tx.memory_changes_after(after, limits::INDEX_BATCH)? {
        if change.id > settled {
            break;
        }
        (count, last) = (count + 1, change.id);
        match doc(tx, change.item)? {
            Some(doc) => docs.push(doc),
            None => gone.push(change.item),
        }
    }
    Ok((docs, gone, count, last))
}

fn doc(tx: &mut Tx<'_>, item: MemoryItem) -> Result<Option<MemoryDoc>, StoreError> {
    Ok(match item {
        MemoryItem::Memory(row) => tx.memory_by_row(row)?.map(|memory| MemoryDoc {
            item,
            area: Area {
                workspace: memory.workspace,
                kind: match memory.kind {
                    MemoryKind::Episodic => AreaKind::Episodic,
                    MemoryKind::LongTerm => AreaKind::LongTerm,
                },
            },
            thread_row: memory.thread_row,
            text: memory.text,
            vector: vector(memory.embedding, &memory.vector),
        }),
        MemoryItem::Piece(row) => tx.piece_by_row(row)?.map(|piece| MemoryDoc {
            item,
            area: Area { workspace: piece.workspace, kind: AreaKind::Documents },
            thread_row: None,
            text: format!("{} {} {}", piece.title, piece.heading, piece.text),
            vector: vector(piece.embedding, &piece.vector),
        }),
    })
}

fn vector(embedding: String, bytes: &[u8]) -> Vector {
    Vector { embedding, values: embed::from_bytes(bytes) }
}
