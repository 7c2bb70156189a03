//! Taking messages into the index: texts and progress in one transaction.
//!
//! The messages of a batch are sorted by thread and time, joined with the growing end of their
//! thread, and cut into full blocks from the oldest on. What remains is the new end, so late history
//! does not widen the blocks of newer messages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use protocol::{fold, limits};
use rusqlite::{Connection, OptionalExtension, params};

use super::block::{self, Entry, Head, View};
use super::directory::Directories;
use super::request::{ContainmentDoc, IndexProgress, RemovedDoc};
use super::schema;
use super::shape::ContainmentShape;
use super::signature::Signature;
use super::takeout::Takeout;
use crate::error::{Result, StoreError};

/// Names that are remembered; more than that begins anew.
const NAMES_MAX: usize = 10_000;

/// What the writing thread remembers between transactions.
pub(super) struct Indexer {
    shape: ContainmentShape,
    /// The numbers of names, so that most messages need no look-up.
    names: HashMap<Arc<str>, u32>,
    /// The number of the next full block, once it is known.
    next_block: Option<i64>,
}

/// What one batch changes.
pub(super) struct Batch {
    pub(super) docs: Vec<ContainmentDoc>,
    pub(super) removed: Vec<RemovedDoc>,
    pub(super) progress: IndexProgress,
}

/// A message on its way into a block.
struct Draft<'a> {
    thread: i64,
    workspace: u32,
    entry: Entry<'a>,
}

impl Indexer {
    /// With an empty memory.
    pub(super) fn new(shape: ContainmentShape) -> Self {
        Self { shape, names: HashMap::new(), next_block: None }
    }

    /// Takes a batch in, and says how far the index goes now.
    pub(super) fn index(
        &mut self,
        connection: &mut Connection,
        directories: &Directories,
        batch: &Batch,
    ) -> Result<IndexProgress> {
        let tx = connection.transaction()?;
        let done = self.take_in(&tx, directories, batch);
        let done = done.and_then(|progress| tx.commit().map(|()| progress).map_err(Into::into));
        if done.is_err() {
            // The transaction is rolled back, and with it what it had numbered.
            self.names.clear();
            self.next_block = None;
        }
        done
    }

    fn take_in(
        &mut self,
        tx: &Connection,
        directories: &Directories,
        batch: &Batch,
    ) -> Result<IndexProgress> {
        if batch.docs.len().max(batch.removed.len()) > limits::containment::BATCH_MAX {
            return Err(StoreError::BadQuery("too many messages at once".to_owned()));
        }
        let row_max: i64 =
            tx.prepare_cached("SELECT row_max FROM progress")?.query_row([], |row| row.get(0))?;
        let docs = wanted(batch);
        let mut takeout = Takeout::default();
        batch.removed.iter().for_each(|removed| takeout.add(removed.thread_row, removed.row));
        for doc in docs.iter().filter(|doc| doc.row <= row_max) {
            takeout.add(doc.thread_row, doc.row);
        }
        takeout.run(tx, directories, self.shape)?;
        let row_max = docs.iter().map(|doc| doc.row).max().unwrap_or(0).max(row_max);
        let drafts = self.drafts(tx, docs)?;
        self.append_all(tx, drafts)?;
        // Taking in old rows again, because they have changed, does not turn the clock back.
        tx.prepare_cached(
            "UPDATE progress SET upto = max(upto, ?1), changes_upto = max(changes_upto, ?2),
             row_max = ?3",
        )?
        .execute(params![batch.progress.upto, batch.progress.changes_upto, row_max])?;
        schema::progress(tx)
    }

    /// The messages folded, numbered and sorted by thread and time.
    fn drafts<'a>(
        &mut self,
        tx: &Connection,
        docs: Vec<&'a ContainmentDoc>,
    ) -> Result<Vec<Draft<'a>>> {
        let mut drafts = Vec::with_capacity(docs.len());
        for doc in docs {
            if doc.row < 1 || doc.row == i64::MAX {
                return Err(StoreError::BadQuery("a message's row is out of range".to_owned()));
            }
            let entry = Entry {
                sent_ms: doc.sent.as_ms(),
                row: doc.row,
                sender: self.name_id(tx, &doc.sender)?,
                content_type: doc.content_type,
                text: fold(&doc.text),
            };
            let workspace = self.name_id(tx, &doc.workspace)?;
            drafts.push(Draft { thread: doc.thread_row, workspace, entry });
        }
        drafts.sort_unstable_by_key(|draft| (draft.thread, draft.workspace, draft.entry.key()));
        Ok(drafts)
    }

    fn append_all(&mut self, tx: &Connection, drafts: Vec<Draft<'_>>) -> Result<()> {
        let mut drafts = drafts.into_iter().peekable();
        while let Some(Draft { thread, workspace, entry }) = drafts.next() {
            let mut entries = vec![entry];
            while let Some(draft) =
                drafts.next_if(|draft| (draft.thread, draft.workspace) == (thread, workspace))
            {
                entries.push(draft.entry);
            }
            self.append(tx, workspace, thread, entries)?;
        }
        Ok(())
    }

    /// Joins messages with the growing end of their thread, and stores whatever is full.
    fn append(
        &mut self,
        tx: &Connection,
        workspace: u32,
        thread: i64,
        entries: Vec<Entry<'_>>,
    ) -> Result<()> {
        let tail = tail(tx, thread)?;
        let has_tail = tail.is_some();
        let mut joined = Vec::with_capacity(entries.len());
        if let Some((tail_workspace, data)) = &tail {
            let before = View::new(data)?.entries()?;
            if *tail_workspace == workspace {
                joined.extend(before);
            } else {
                // Workspaces never share a block.
                self.store_block(tx, *tail_workspace, thread, &before)?;
            }
        }
        joined.extend(entries);
        joined.sort_by_key(Entry::key);
        let shape = self.shape;
        let is_long = |entry: &Entry<'_>| entry.bytes() > shape.block_bytes;
        for long in joined.extract_if(.., |entry| is_long(entry)) {
            self.store_block(tx, workspace, thread, std::slice::from_ref(&long))?;
        }
        let mut pieces = cut(&joined, shape);
        let rest = pieces.pop().unwrap_or_default();
        for piece in pieces {
            self.store_block(tx, workspace, thread, piece)?;
        }
        match Head::of(workspace, thread, rest) {
            Some(head) => store_tail(tx, &head, &block::encode(rest)?),
            None if has_tail => delete_tail(tx, thread),
            None => Ok(()),
        }
    }

    fn store_block(
        &mut self,
        tx: &Connection,
        workspace: u32,
        thread: i64,
        entries: &[Entry<'_>],
    ) -> Result<()> {
        let Some(head) = Head::of(workspace, thread, entries) else { return Ok(()) };
        let block = match self.next_block {
            Some(block) => block,
            None => tx
                .prepare_cached("SELECT coalesce(max(block) + 1, 0) FROM block")?
                .query_row([], |row| row.get(0))?,
        };
        tx.prepare_cached("INSERT INTO block (block, data) VALUES (?1, ?2)")?
            .execute(params![block, block::encode(entries)?])?;
        tx.prepare_cached(
            "INSERT INTO recent
                 (block, workspace, thread, newest_ms, oldest_ms, row_min, row_max, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            block,
            head.workspace,
            head.thread,
            head.newest_ms,
            head.oldest_ms,
            head.row_min,
            head.row_max,
            Signature::of(entries, self.shape.signature_bits).to_bytes()
        ])?;
        self.next_block = Some(block + 1);
        Ok(())
    }

    fn name_id(&mut self, tx: &Connection, name: &Arc<str>) -> Result<u32> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        tx.prepare_cached("INSERT INTO name (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([&**name])?;
        let missing = StoreError::Corrupt { what: "name in the containment index" };
        let id = schema::name_id(tx, name)?.ok_or(missing)?;
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(Arc::clone(name), id);
        Ok(id)
    }
}

/// The messages to take in: of each row the last, unless it is removed at the same time.
fn wanted(batch: &Batch) -> Vec<&ContainmentDoc> {
    let is_plain = batch.docs.is_sorted_by(|one, next| one.row < next.row);
    if is_plain && batch.removed.is_empty() {
        return batch.docs.iter().collect();
    }
    let mut known: HashSet<i64> = batch.removed.iter().map(|removed| removed.row).collect();
    batch.docs.iter().rev().filter(|doc| known.insert(doc.row)).collect()
}

/// Sorted messages in pieces that fill a block; the last, which may be empty, is still to grow.
fn cut<'a, 'b>(mut entries: &'a [Entry<'b>], shape: ContainmentShape) -> Vec<&'a [Entry<'b>]> {
    let mut pieces = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    while let Some(entry) = entries.get(count) {
        if count == shape.block_messages || bytes + entry.bytes() > shape.block_bytes {
            let (piece, rest) = entries.split_at(count);
            pieces.push(piece);
            (entries, count, bytes) = (rest, 0, 0);
        } else {
            bytes += entry.bytes();
            count += 1;
        }
    }
    pieces.push(entries);
    pieces
}

/// The growing end of a thread, with its workspace.
pub(super) fn tail(tx: &Connection, thread: i64) -> Result<Option<(u32, Vec<u8>)>> {
    let mut select = tx.prepare_cached("SELECT workspace, data FROM tail WHERE thread = ?1")?;
    Ok(select.query_row([thread], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Puts a growing end in place of the one before.
pub(super) fn store_tail(tx: &Connection, head: &Head, data: &[u8]) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO tail (thread, workspace, newest_ms, oldest_ms, row_min, row_max, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (thread) DO UPDATE SET workspace = excluded.workspace,
             newest_ms = excluded.newest_ms, oldest_ms = excluded.oldest_ms,
             row_min = excluded.row_min, row_max = excluded.row_max, data = excluded.data",
    )?
    .execute(params![
        head.thread,
        head.workspace,
        head.newest_ms,
        head.oldest_ms,
        head.row_min,
        head.row_max,
        data
    ])?;
    Ok(())
}

/// Leaves a thread without a growing end.
pub(super) fn delete_tail(tx: &Connection, thread: i64) -> Result<()> {
    tx.prepare_cached("DELETE FROM tail WHERE thread = ?1")?.execute([thread])?;
    Ok(())
}
