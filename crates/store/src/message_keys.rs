//! The keys of messages, on their way into the index that finds a message by its key.
//!
//! A key's hash lies anywhere in the index, so filing each at once would cost a page a post. The one
//! thread that writes a SQLite database keeps the newest keys in memory and files them later, in order,
//! so that those of one page go there together. The messages hold their keys themselves: whatever was
//! not filed is read again at the next start. PostgreSQL, where others write too, has a plain index.

use std::collections::BTreeSet;

use protocol::limits;

use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// The fact that says up to which message every key is filed.
const FILED_THROUGH: &str = "message_keys_filed";
/// For so many keys that are added one more is filed than that, so that a run ends before the next.
const FILED_MORE_FOR: usize = 4;
/// One key is filed for so many changed rows even where none is added, so that every run ends.
const CHANGES_FOR_EACH: u64 = 8;

/// Where a key stands in the index: its thread, its hash and its message, by their rows.
type Key = (i64, i64, i64);

/// The keys that the index does not hold.
#[derive(Default)]
pub(crate) struct MessageKeys {
    /// Those of no run, uncommitted ones included.
    recent: BTreeSet<Key>,
    /// The bytes of their messages, which a start would have to read again.
    bytes: usize,
    /// What the transaction under way has added, with the bytes of each.
    added: Vec<(Key, usize)>,
    run: Option<Run>,
    /// How many rows had been changed when the last run began.
    changes: u64,
    /// How many keys make a run.
    enough: usize,
}

/// How many keys make a run when there are so many messages.
fn enough(messages: i64) -> usize {
    let share = usize::try_from(messages).unwrap_or(0) / limits::MESSAGES_FOR_EACH_UNFILED_KEY;
    share.clamp(limits::KEYS_UNFILED_MIN, limits::KEYS_UNFILED_MAX)
}

/// Keys that are being filed.
struct Run {
    /// In order.
    keys: Vec<Key>,
    /// How many of them are filed, and how many will be with the transaction under way.
    filed: usize,
    filing: usize,
    /// The newest message when the run began: with the last of the keys all up to here are filed.
    through: i64,
    /// Whether the transaction under way says so.
    is_over: bool,
}

impl MessageKeys {
    /// Reads the keys that were not filed when the database was closed, or its hub was killed.
    pub(crate) fn load(tx: &mut Tx<'_>) -> Result<Self> {
        let filed = tx.fact(FILED_THROUGH)?.map_or(Ok(0), |text| {
            text.parse::<i64>().map_err(|_| StoreError::Corrupt { what: FILED_THROUGH })
        })?;
        let mut recent = BTreeSet::new();
        tx.each(
            "SELECT thread, idem_hash, id FROM message WHERE id > ?1 AND idem_hash IS NOT NULL",
            &[filed.into()],
            |row| {
                recent.insert((row.int(0)?, row.int(1)?, row.int(2)?));
                Ok(true)
            },
        )?;
        Ok(Self { recent, enough: enough(tx.newest_message_row()?), ..Self::default() })
    }

    /// A message was written.
    pub(crate) fn add(&mut self, thread_row: i64, hash: i64, message_row: i64, bytes: usize) {
        let key = (thread_row, hash, message_row);
        self.recent.insert(key);
        self.bytes += bytes;
        self.added.push((key, bytes));
    }

    /// The messages of a thread whose keys have this hash and are not filed, the newest first.
    pub(crate) fn messages(&self, thread_row: i64, hash: i64) -> Vec<i64> {
        let (first, last) = ((thread_row, hash, i64::MIN), (thread_row, hash, i64::MAX));
        let recent = self.recent.range(first..=last);
        let keys = self.run.as_ref().map_or(&[][..], |run| run.keys.as_slice());
        let from = keys.partition_point(|key| *key < first);
        let in_run = keys.iter().skip(from).take_while(|key| **key <= last);
        // Those of the run are older.
        let mut found: Vec<_> = in_run.chain(recent).map(|(_, _, message)| *message).collect();
        found.reverse();
        found
    }

    /// How many keys the transaction under way has added.
    pub(crate) fn added(&self) -> usize {
        self.added.len()
    }

    /// Takes back what it added after so many.
    pub(crate) fn take_back_to(&mut self, added: usize) {
        for (key, bytes) in self.added.drain(added.min(self.added.len())..) {
            self.recent.remove(&key);
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// The transaction was rolled back.
    pub(crate) fn rolled_back(&mut self) {
        self.take_back_to(0);
        if let Some(run) = &mut self.run {
            run.filing = run.filed;
            run.is_over = false;
        }
    }

    /// The transaction was committed. Answers whether a run is due, after `changes` changed rows in all.
    pub(crate) fn committed(&mut self, changes: u64) -> bool {
        self.added.clear();
        if let Some(run) = &mut self.run {
            run.filed = run.filing;
            if !run.is_over {
                return false;
            }
            self.run = None;
        }
        self.recent.len() >= self.enough
            || self.bytes >= limits::KEYS_UNFILED_BYTES_MAX
            || changes.saturating_sub(self.changes) >= limits::KEYS_UNFILED_CHANGES_MAX
    }

    /// Begins to file what there is, between two transactions. `newest` is the newest message.
    pub(crate) fn begin_run(&mut self, newest: i64, changes: u64) {
        let keys = std::mem::take(&mut self.recent).into_iter().collect();
        self.bytes = 0;
        self.changes = changes;
        self.enough = enough(newest);
        self.run = Some(Run { keys, filed: 0, filing: 0, through: newest, is_over: false });
    }

    /// Files some of the run in the transaction under way, which has changed so many rows.
    pub(crate) fn file(&mut self, tx: &mut Tx<'_>, changes: u64) -> Result<()> {
        let added = self.added.len() + self.added.len().div_ceil(FILED_MORE_FOR);
        let changed = usize::try_from(changes / CHANGES_FOR_EACH).unwrap_or(usize::MAX);
        let Some(run) = &mut self.run else { return Ok(()) };
        let end = run.filed.saturating_add(added.max(changed)).min(run.keys.len());
        for (thread, hash, message) in run.keys.iter().take(end).skip(run.filed) {
            tx.execute(
                "INSERT INTO message_key (thread, idem_hash, message) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
                &[(*thread).into(), (*hash).into(), (*message).into()],
            )?;
        }
        run.filing = end;
        if end == run.keys.len() {
            tx.set_fact(FILED_THROUGH, &run.through.to_string())?;
            run.is_over = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_come_first_whether_they_are_being_filed_or_not() {
        let mut keys = MessageKeys { enough: 9, ..MessageKeys::default() };
        for message in [10, 11] {
            keys.add(1, 7, message, 0);
        }
        keys.add(1, 8, 12, 0);
        assert!(!keys.committed(0));
        keys.begin_run(12, 0);
        keys.add(1, 7, 13, 0);
        keys.add(2, 7, 14, 0);
        assert_eq!(keys.messages(1, 7), [13, 11, 10]);
        assert_eq!(keys.messages(2, 7), [14]);
        assert!(keys.messages(2, 8).is_empty());
        keys.take_back_to(1);
        assert!(keys.messages(2, 7).is_empty(), "its transaction was taken back to a savepoint");
        keys.rolled_back();
        assert_eq!(keys.messages(1, 7), [11, 10]);
    }

    #[test]
    fn a_run_is_due_after_many_keys_long_messages_or_many_changes() {
        let mut keys = MessageKeys { enough: 9, ..MessageKeys::default() };
        let changes = limits::KEYS_UNFILED_CHANGES_MAX;
        assert!(!keys.committed(changes - 1));
        assert!(keys.committed(changes), "a start would look through all that has no keys too");
        keys.begin_run(0, changes);
        assert!(!keys.committed(changes * 2), "one run at a time, until it is said to be over");
        let mut keys = MessageKeys { enough: 9, ..MessageKeys::default() };
        keys.add(1, 1, 1, limits::KEYS_UNFILED_BYTES_MAX);
        assert!(keys.committed(0));
        let mut keys = MessageKeys { enough: 9, ..MessageKeys::default() };
        (0..8).for_each(|number| keys.add(1, number, number, 0));
        assert!(!keys.committed(0));
        keys.add(1, 8, 8, 0);
        assert!(keys.committed(0));
    }

    #[test]
    fn runs_grow_with_the_database() {
        let runs = [0, 100_000, 1_000_000, 100_000_000].map(enough);
        assert_eq!(runs, [limits::KEYS_UNFILED_MIN, 6_250, 62_500, limits::KEYS_UNFILED_MAX]);
    }
}
