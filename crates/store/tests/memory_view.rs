//! The view of memories where there are many: what comes first, what is new, and what is gone.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use tempfile::TempDir;
use waystation_store::{
    Area, AreaKind, MemoryDoc, MemoryIndex, MemoryItem, RecallQuery, RecallWords, Vector,
};

/// More than are ranked by looking at each.
const MANY: i64 = 6_000;

fn area() -> Area {
    Area { workspace: "main".to_owned(), kind: AreaKind::Episodic }
}

fn doc(row: i64, text: &str) -> MemoryDoc {
    MemoryDoc {
        item: MemoryItem::Memory(row),
        area: area(),
        thread_row: Some(row % 3 + 1),
        text: text.to_owned(),
        vector: Vector { embedding: "none".to_owned(), values: Vec::new() },
    }
}

/// A memory of every release: each names the service, one in six the queue, one in a thousand its number.
fn text(row: i64) -> String {
    let what = if row % 6 == 0 { "queue" } else { "cache" };
    format!("The service was released, see {what} and runbook r{}", row % 1_000)
}

async fn filled() -> (TempDir, MemoryIndex) {
    let folder = tempfile::tempdir().unwrap();
    let index = MemoryIndex::open(folder.path(), "db").unwrap();
    let docs = (1..=MANY).map(|row| doc(row, &text(row))).collect();
    index.apply(docs, Vec::new(), MANY).await.unwrap();
    (folder, index)
}

async fn found(index: &MemoryIndex, words: &str, threads: Option<Vec<i64>>) -> Vec<i64> {
    let query = RecallQuery {
        areas: vec![area()],
        threads,
        words: RecallWords::of(words),
        vector: None,
        pool: 8,
    };
    let candidates = index.recall(query).await.unwrap();
    candidates
        .into_iter()
        .map(|candidate| {
            assert!(matches!(candidate.item, MemoryItem::Memory(_)), "it is no memory");
            candidate.item.row()
        })
        .collect()
}

#[tokio::test]
async fn what_holds_more_and_rarer_words_comes_first_and_then_what_is_newer() {
    let (_folder, index) = filled().await;
    // r12 stands in six entries, of which two (12, 3012) name the queue.
    let rows = found(&index, "runbook r12 of the queue service", None).await;
    assert_eq!(rows.get(..6).unwrap(), [3_012, 12, 5_012, 4_012, 2_012, 1_012]);
    let common = found(&index, "queue", None).await;
    assert_eq!(common, [6_000, 5_994, 5_988, 5_982, 5_976, 5_970, 5_964, 5_958]);
    assert_eq!(found(&index, "service released", None).await, [] as [i64; 0], "all say that");
    assert_eq!(found(&index, "nothing says this", None).await, [] as [i64; 0]);
}

#[tokio::test]
async fn only_memories_of_threads_that_may_be_seen_are_found() {
    let (_folder, index) = filled().await;
    let rows = found(&index, "r12", Some(vec![2])).await;
    assert_eq!(rows, [4_012, 1_012], "rows whose thread is the second");
}

#[tokio::test]
async fn what_changes_after_words_were_counted_is_seen() {
    let (_folder, index) = filled().await;
    // Whoever answers next has counted.
    for _ in 0..4 {
        assert_eq!(found(&index, "r12 zebra queue", None).await.len(), 8);
    }
    let gone = vec![MemoryItem::Memory(12), MemoryItem::Memory(5_012)];
    index.apply(vec![doc(MANY + 1, "A zebra came by")], gone, MANY + 3).await.unwrap();
    for _ in 0..4 {
        let rows = found(&index, "r12 zebra queue", None).await;
        assert_eq!(rows.get(..5).unwrap(), [3_012, MANY + 1, 4_012, 2_012, 1_012]);
    }
}
