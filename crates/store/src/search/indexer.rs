//! Taking messages into the index: rows and progress in one transaction.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::expression::bare_scope_word;
use super::request::SearchDoc;
use super::schema;
use super::words::{self, Side};
use crate::error::{Result, StoreError};

/// What the writing thread remembers between transactions.
#[derive(Default)]
pub(super) struct Indexer {
    /// The numbers of names, so that most messages need no look-up.
    names: HashMap<String, i64>,
    /// Every volume but the newest is one piece; not known at first.
    is_merged: bool,
}

/// Names that are remembered; more than that begins anew.
const NAMES_MAX: usize = 10_000;
/// Pages written by one step of merging: some milliseconds.
const MERGE_PAGES: i64 = 250;
/// States of a volume: in pieces, being merged, and one piece.
const VOLUME_LOOSE: i64 = 0;
const VOLUME_MERGING: i64 = 1;
const VOLUME_MERGED: i64 = 2;

impl Indexer {
    /// Takes messages in, and says how far the index goes now.
    pub(super) fn index(
        &mut self,
        connection: &mut Connection,
        docs: &[SearchDoc],
        upto: i64,
    ) -> Result<i64> {
        let tx = connection.transaction()?;
        let done = self.take_in(&tx, docs, upto);
        if done.is_err() {
            // The transaction is rolled back, and names that it had numbered with it.
            self.names.clear();
            return done;
        }
        tx.commit().inspect_err(|_| self.names.clear())?;
        done
    }

    fn take_in(&mut self, tx: &Connection, docs: &[SearchDoc], upto: i64) -> Result<i64> {
        for doc in docs {
            self.take_one(tx, doc)?;
        }
        // Indexing old rows again, because they have changed, does not turn the clock back.
        tx.prepare_cached("UPDATE progress SET upto = max(upto, ?1)")?.execute([upto])?;
        schema::indexed_upto(tx)
    }

    fn take_one(&mut self, tx: &Connection, doc: &SearchDoc) -> Result<()> {
        if doc.row < 1 {
            return Err(StoreError::Corrupt { what: "message row" });
        }
        let volume = schema::volume_of(doc.row);
        if schema::add_volume(tx, volume)? {
            self.is_merged = false;
        }
        let workspace = self.name_id(tx, &doc.workspace)?;
        let sender = self.name_id(tx, &doc.sender)?;
        let text = format!(
            "{} {} {} {}",
            bare_scope_word('w', workspace),
            bare_scope_word('t', doc.thread_row),
            bare_scope_word('s', sender),
            words::split(&doc.text, Side::Message).text,
        );
        let sql = format!("REPLACE INTO words_{volume} (rowid, text) VALUES (?1, ?2)");
        tx.prepare_cached(&sql)?.execute(params![doc.row, text])?;
        tx.prepare_cached(
            "REPLACE INTO doc (row, thread, workspace, seq, sender, kind, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            doc.row,
            doc.thread_row,
            workspace,
            doc.seq,
            sender,
            doc.kind,
            doc.created.as_ms()
        ])?;
        tx.prepare_cached(
            "INSERT INTO spread (volume, thread) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute([volume, doc.thread_row])?;
        Ok(())
    }

    fn name_id(&mut self, tx: &Connection, name: &str) -> Result<i64> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        tx.prepare_cached("INSERT INTO name (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([name])?;
        let id = schema::name_id(tx, name)?.ok_or(StoreError::Corrupt { what: "search name" })?;
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Goes one step in merging the pieces of full volumes: one piece is searched several times
    /// faster. Steps are short, so that messages never wait long behind one.
    pub(super) fn merge_step(&mut self, connection: &mut Connection) -> Result<()> {
        if self.is_merged {
            return Ok(());
        }
        let tx = connection.transaction()?;
        let next = tx
            .prepare_cached(
                "SELECT volume, state FROM volume
                 WHERE state < ?1 AND volume < (SELECT max(volume) FROM volume) LIMIT 1",
            )?
            .query_row([VOLUME_MERGED], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((volume, state)): Option<(i64, i64)> = next else {
            self.is_merged = true;
            return Ok(());
        };
        // A negative number gathers the pieces; positive ones go on from there.
        let pages = if state == VOLUME_LOOSE { -MERGE_PAGES } else { MERGE_PAGES };
        let changes_before = tx.total_changes();
        let sql = format!("INSERT INTO words_{volume} (words_{volume}, rank) VALUES ('merge', ?1)");
        tx.prepare_cached(&sql)?.execute([pages])?;
        // FTS5 says so by changing nothing beside the command itself.
        let is_done = state == VOLUME_MERGING && tx.total_changes() - changes_before < 2;
        let state = if is_done { VOLUME_MERGED } else { VOLUME_MERGING };
        tx.prepare_cached("UPDATE volume SET state = ?2 WHERE volume = ?1")?
            .execute([volume, state])?;
        tx.commit()?;
        Ok(())
    }
}
