//! Brings the search index up to the log, behind the write path and never in its way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use store::{MessageRow, SearchDoc, SearchIndex, Store, StoreError, Tx};
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::live::Live;

/// Messages taken in at once.
const BATCH: usize = 256;
/// In a flood of posts the indexer rests after a batch, so many times as long as the batch took: it takes
/// a sixteenth of one core and catches up afterwards.
const REST: u32 = 15;
/// More messages a second are a flood.
const FLOOD_PER_SECOND: u128 = 2_000;
/// A handful of messages is no flood, however close together they came.
const FLOOD_MIN: usize = BATCH / 8;
/// How long it rests after an error.
const STEP_ASIDE: Duration = Duration::from_millis(100);
/// Looks by itself now and then: another hub may have written to the same database.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(
    store: Store,
    index: SearchIndex,
    live: Arc<Live>,
    stop: CancellationToken,
) {
    let mut watch = live.watch();
    watch.add_everything();
    let mut trouble = Trouble::default();
    let mut head = Head::default();
    while !stop.is_cancelled() {
        #[expect(clippy::disallowed_methods, reason = "measures how long the batch takes")]
        let began = Instant::now();
        match take_in(&store, &index, &mut head).await {
            Ok(0) => {
                trouble.is_over();
                tokio::select! {
                    () = watch.changed() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
            Ok(taken) => {
                trouble.is_over();
                if taken >= FLOOD_MIN && head.is_flooded {
                    tokio::time::sleep(began.elapsed() * REST).await;
                }
            }
            Err(StoreError::Closed | StoreError::Failed) => return,
            Err(error) => {
                trouble.say(&error, "the search index fell behind; trying again");
                tokio::time::sleep(STEP_ASIDE).await;
            }
        }
    }
}

/// The end of the log, when it was last looked at.
#[derive(Default)]
struct Head {
    seen: Option<(i64, Instant)>,
    /// Whether it runs away faster than the indexer should follow.
    is_flooded: bool,
}

impl Head {
    fn look(&mut self, row: i64, now: Instant) {
        if let Some((before, at)) = self.seen.replace((row, now)) {
            let grown = u128::from(u64::try_from(row - before).unwrap_or(0));
            let millis = now.duration_since(at).as_millis().max(1);
            self.is_flooded = grown * 1_000 / millis > FLOOD_PER_SECOND;
        }
    }
}

/// Takes in one batch; answers how many messages it held.
async fn take_in(store: &Store, index: &SearchIndex, head: &mut Head) -> Result<usize, StoreError> {
    let settled = store.read(settled_row).await?;
    #[expect(clippy::disallowed_methods, reason = "measures how fast the log grows")]
    head.look(settled, Instant::now());
    if settled < index.indexed_upto() {
        // The newest row never goes, so an older log was put back.
        index.begin_anew().await?;
    }
    let upto = index.indexed_upto();
    if settled <= upto {
        return Ok(0);
    }
    let docs: Vec<SearchDoc> = store.read(move |tx| read_docs(tx, upto, settled)).await?;
    let count = docs.len();
    // Rows that are not there to be indexed belong to chats.
    let upto = docs.last().filter(|_| count == BATCH).map_or(settled, |doc| doc.row);
    index.index(docs, upto).await?;
    Ok(count)
}

fn settled_row(tx: &mut Tx<'_>) -> Result<i64, StoreError> {
    tx.settled_message_row()
}

fn read_docs(tx: &mut Tx<'_>, after: i64, settled: i64) -> Result<Vec<SearchDoc>, StoreError> {
    let mut workspaces: HashMap<i64, String> = HashMap::new();
    let mut docs = Vec::new();
    for message in tx.log_after(after, BATCH)? {
        if message.row > settled {
            break;
        }
        let workspace = if let Some(known) = workspaces.get(&message.thread_row) {
            known.clone()
        } else {
            let found = tx.thread_workspace(message.thread_row)?.unwrap_or_default();
            workspaces.insert(message.thread_row, found.clone());
            found
        };
        docs.push(doc(message, workspace));
    }
    Ok(docs)
}

fn doc(message: MessageRow, workspace: String) -> SearchDoc {
    let mut text = message.body;
    if let Some(Ok(metadata)) = message.metadata.as_deref().map(serde_json::from_str::<Value>) {
        add_words(&metadata, &mut text);
    }
    SearchDoc {
        row: message.row,
        thread_row: message.thread_row,
        seq: message.seq,
        workspace,
        sender: message.sender,
        kind: message.kind.code(),
        created: message.created,
        text,
    }
}

/// The texts of a JSON value; its keys say nothing to someone who searches.
fn add_words(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => {
            text.push(' ');
            text.push_str(words);
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| add_words(field, text)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_log_that_runs_away_is_a_flood() {
        #[expect(clippy::disallowed_methods, reason = "any instant will do")]
        let start = Instant::now();
        let mut head = Head::default();
        let mut look = |row, millis| {
            head.look(row, start + Duration::from_millis(millis));
            head.is_flooded
        };
        assert!(!look(5_000_000, 0), "much to catch up with is no flood");
        assert!(!look(5_000_001, 10), "somebody posts");
        assert!(look(5_000_101, 20), "everybody posts");
        assert!(!look(5_000_101, 30), "it is over");
    }
}
