//! Memories and documents: every change leaves a trace, what is over goes, what is gone stays known.

use protocol::relay::MemoryKind;
use protocol::{MemoryId, PieceId};
use waystation_store::{MemoryItem, NewDocument, NewMemory, NewPiece};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

on_both! {
    a_memory_is_found_touched_and_forgotten
    each_thing_has_one_change_and_the_newest_counts
    a_document_takes_its_pieces_along
}

async fn remember(place: &Place, ms: i64, expires_ms: Option<i64>) -> (i64, MemoryId) {
    let id = MemoryId::new(at(ms), unique());
    let row = place
        .write(move |tx| {
            tx.insert_memory(&NewMemory {
                id,
                workspace: WORKSPACE,
                kind: MemoryKind::LongTerm,
                thread_row: None,
                agent: "author",
                text: "words",
                data: "{}",
                embedding: "one",
                vector: &[1, 2, 255],
                is_pinned: false,
                at: at(ms),
                expires: expires_ms.map(at),
            })
        })
        .await;
    (row, id)
}

async fn a_memory_is_found_touched_and_forgotten(place: Place) {
    let (row, id) = remember(&place, 1, Some(50)).await;
    let (kept, _) = remember(&place, 2, None).await;
    let found = place.write(move |tx| tx.memory(WORKSPACE, id)).await.unwrap();
    assert_eq!((found.row, found.vector, found.used), (row, vec![1, 2, 255], at(1)));
    assert!(place.write(move |tx| tx.memory("elsewhere", id)).await.is_none());
    place.write(move |tx| tx.touch_memory(row, at(30))).await;
    place.write(move |tx| tx.touch_memory(row, at(20))).await;
    let found = place.write(move |tx| tx.memory_by_row(row)).await.unwrap();
    assert_eq!(found.used, at(30), "time does not run back");
    assert_eq!(place.write(|tx| tx.next_memory_expiry()).await, Some(at(50)));
    assert!(place.write(|tx| tx.expired_memories(at(49), 10)).await.is_empty());
    let over = place.write(|tx| tx.expired_memories(at(50), 10)).await;
    assert_eq!(over, [(row, WORKSPACE.to_owned())]);
    assert!(place.write(move |tx| tx.delete_memory(row, at(50))).await);
    assert!(!place.write(move |tx| tx.delete_memory(row, at(51))).await);
    assert_eq!(place.write(|tx| tx.count_memories()).await, (0, 1));
    let newest =
        place.write(|tx| tx.newest_memories(WORKSPACE, MemoryKind::LongTerm, None, 10)).await;
    assert_eq!(newest.iter().map(|memory| memory.row).collect::<Vec<_>>(), [kept]);
    place.close().await;
}

async fn each_thing_has_one_change_and_the_newest_counts(place: Place) {
    let (first, _) = remember(&place, 1, None).await;
    let (second, _) = remember(&place, 2, None).await;
    let others = place.write(|tx| tx.other_embeddings("two", 1)).await;
    assert_eq!(others, [(MemoryItem::Memory(second), "words".to_owned())]);
    place.write(move |tx| tx.set_vector(MemoryItem::Memory(first), "two", &[7], at(3))).await;
    let changes = place.write(|tx| tx.memory_changes_after(0, 10)).await;
    let items: Vec<MemoryItem> = changes.iter().map(|change| change.item).collect();
    assert_eq!(items, [MemoryItem::Memory(second), MemoryItem::Memory(first)]);
    let settled = place.write(|tx| tx.settled_memory_change()).await;
    assert_eq!(settled, changes[1].id);
    place.write(move |tx| tx.delete_memory(first, at(4))).await;
    let after = place.write(move |tx| tx.memory_changes_after(settled, 10)).await;
    assert_eq!(after[0].item, MemoryItem::Memory(first), "the views hear that it is gone");
    assert_eq!(place.write(|tx| tx.prune_memory_changes(at(5), 10)).await, 0, "it is the newest");
    remember(&place, 5, None).await;
    assert_eq!(place.write(|tx| tx.prune_memory_changes(at(4), 10)).await, 0, "it is young");
    assert_eq!(place.write(|tx| tx.prune_memory_changes(at(5), 10)).await, 1);
    let rest = place.write(|tx| tx.memory_changes_after(0, 10)).await;
    assert_eq!(rest.len(), 2, "what is there stays in the trail");
    place.close().await;
}

async fn a_document_takes_its_pieces_along(place: Place) {
    let put = |digest: u8, pieces: usize| {
        place.write(move |tx| {
            let row = tx.put_document(&NewDocument {
                workspace: WORKSPACE,
                collection: "docs",
                source: "a.md",
                title: "A",
                url: None,
                digest: &[digest],
                at: at(1),
            })?;
            for number in 0..pieces {
                let piece = NewPiece {
                    id: PieceId::new(at(1), unique()),
                    heading: format!("h{number}"),
                    text: "t".to_owned(),
                    embedding: "one".to_owned(),
                    vector: vec![1],
                };
                tx.insert_piece(WORKSPACE, row, &piece, at(1))?;
            }
            Ok(row)
        })
    };
    let row = put(1, 3).await;
    assert_eq!(put(2, 1).await, row, "the same source is the same document");
    let listed = place.write(|tx| tx.documents(WORKSPACE, Some("docs"), 0, 10)).await;
    assert_eq!((listed.len(), listed[0].pieces, listed[0].digest.clone()), (1, 1, vec![2]));
    assert!(place.write(|tx| tx.documents(WORKSPACE, Some("other"), 0, 10)).await.is_empty());
    place.write(move |tx| tx.delete_document(row, at(2))).await;
    assert!(place.write(|tx| tx.documents(WORKSPACE, None, 0, 10)).await.is_empty());
    let changes = place.write(|tx| tx.memory_changes_after(0, 10)).await;
    // SQLite gives the row of a piece that is gone to the next.
    assert!((3..=4).contains(&changes.len()), "one for each piece that ever was: {changes:?}");
    place.close().await;
}
