//! What is remembered, and the trail of changes that views of it follow.

use protocol::relay::MemoryKind;
use protocol::{MemoryId, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// Which table a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryItem {
    /// A memory, by its row.
    Memory(i64),
    /// A piece of a document, by its row.
    Piece(i64),
}

impl MemoryItem {
    /// The stored code of the table.
    pub const fn what(self) -> i64 {
        match self {
            Self::Memory(_) => 0,
            Self::Piece(_) => 1,
        }
    }

    /// The row.
    pub const fn row(self) -> i64 {
        match self {
            Self::Memory(row) | Self::Piece(row) => row,
        }
    }

    fn read(what: i64, row: i64) -> Result<Self> {
        match what {
            0 => Ok(Self::Memory(row)),
            1 => Ok(Self::Piece(row)),
            _ => Err(StoreError::Corrupt { what: "change of a memory" }),
        }
    }
}

/// Something that came, changed or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryChange {
    /// Its number, which grows.
    pub id: i64,
    /// What it is about.
    pub item: MemoryItem,
}

/// A memory as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its row number.
    pub row: i64,
    /// Its id.
    pub id: MemoryId,
    /// Its workspace.
    pub workspace: String,
    /// Where it is remembered.
    pub kind: MemoryKind,
    /// The thread of an episodic one.
    pub thread_row: Option<i64>,
    /// Who remembered it.
    pub agent: String,
    /// The words that are searched.
    pub text: String,
    /// What is remembered: JSON.
    pub data: String,
    /// How its vector was made.
    pub embedding: String,
    /// Its vector.
    pub vector: Vec<u8>,
    /// Whether it does not age.
    pub is_pinned: bool,
    /// When it was remembered.
    pub created: Timestamp,
    /// When it was last of use.
    pub used: Timestamp,
    /// When it is forgotten.
    pub expires: Option<Timestamp>,
}

/// A memory to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewMemory<'a> {
    /// Its id.
    pub id: MemoryId,
    /// Its workspace.
    pub workspace: &'a str,
    /// Where it is remembered.
    pub kind: MemoryKind,
    /// The thread of an episodic one.
    pub thread_row: Option<i64>,
    /// Who remembers it.
    pub agent: &'a str,
    /// The words that are searched.
    pub text: &'a str,
    /// What is remembered: JSON.
    pub data: &'a str,
    /// How its vector was made.
    pub embedding: &'a str,
    /// Its vector.
    pub vector: &'a [u8],
    /// Whether it does not age.
    pub is_pinned: bool,
    /// Now.
    pub at: Timestamp,
    /// When it is forgotten.
    pub expires: Option<Timestamp>,
}

fn kind_code(kind: MemoryKind) -> i64 {
    match kind {
        MemoryKind::Episodic => 0,
        MemoryKind::LongTerm => 1,
    }
}

macro_rules! select_memories {
    ($rest:literal) => {
        concat!(
            "SELECT id, uid, workspace, kind, thread, agent, text, data, embedding, vector, pinned,
                    created_ms, used_ms, expires_ms FROM memory ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Keeps a memory; answers its row.
    pub fn insert_memory(&mut self, new: &NewMemory<'_>) -> Result<i64> {
        let row = self.insert(
            "INSERT INTO memory (uid, workspace, kind, thread, agent, text, data, vector, embedding,
                 pinned, created_ms, used_ms, expires_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                kind_code(new.kind).into(),
                new.thread_row.into(),
                new.agent.into(),
                new.text.into(),
                new.data.into(),
                new.vector.into(),
                new.embedding.into(),
                new.is_pinned.into(),
                new.at.as_ms().into(),
                new.expires.map(Timestamp::as_ms).into(),
            ],
        )?;
        self.note_memory_change(MemoryItem::Memory(row), new.at)?;
        Ok(row)
    }

    /// A memory by its id.
    pub fn memory(&mut self, workspace: &str, id: MemoryId) -> Result<Option<MemoryRow>> {
        self.query_one(
            select_memories!("WHERE uid = ?1 AND workspace = ?2"),
            &[id.as_bytes().into(), workspace.into()],
            memory_row,
        )
    }

    /// A memory by its row.
    pub fn memory_by_row(&mut self, row: i64) -> Result<Option<MemoryRow>> {
        self.query_one(select_memories!("WHERE id = ?1"), &[row.into()], memory_row)
    }

    /// The newest memories of a kind, or of one thread.
    pub fn newest_memories(
        &mut self,
        workspace: &str,
        kind: MemoryKind,
        thread_row: Option<i64>,
        limit: usize,
    ) -> Result<Vec<MemoryRow>> {
        if let Some(thread) = thread_row {
            return self.query(
                select_memories!(
                    "WHERE thread = ?1 AND workspace = ?2 AND kind = ?3 ORDER BY id DESC LIMIT ?4"
                ),
                &[thread.into(), workspace.into(), kind_code(kind).into(), limit_param(limit)],
                memory_row,
            );
        }
        self.query(
            select_memories!("WHERE workspace = ?1 AND kind = ?2 ORDER BY id DESC LIMIT ?3"),
            &[workspace.into(), kind_code(kind).into(), limit_param(limit)],
            memory_row,
        )
    }

    /// Forgets a memory; answers whether it was there.
    pub fn delete_memory(&mut self, row: i64, at: Timestamp) -> Result<bool> {
        let deleted = self.execute("DELETE FROM memory WHERE id = ?1", &[row.into()])?;
        if deleted > 0 {
            self.note_memory_change(MemoryItem::Memory(row), at)?;
        }
        Ok(deleted > 0)
    }

    /// A memory was of use. Time does not run back when two notes cross.
    pub fn touch_memory(&mut self, row: i64, at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE memory SET used_ms = ?2 WHERE id = ?1 AND used_ms < ?2",
            &[row.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// Memories whose time is up, with their workspaces.
    pub fn expired_memories(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(i64, String)>> {
        self.query(
            "SELECT id, workspace FROM memory WHERE expires_ms IS NOT NULL AND expires_ms <= ?1
             ORDER BY expires_ms LIMIT ?2",
            &[now.as_ms().into(), limit_param(limit)],
            |row| Ok((row.int(0)?, row.text(1)?)),
        )
    }

    /// When the next memory is to be forgotten.
    pub fn next_memory_expiry(&mut self) -> Result<Option<Timestamp>> {
        let next = self.query_one(
            "SELECT min(expires_ms) FROM memory WHERE expires_ms IS NOT NULL",
            &[],
            |row| row.opt_int(0),
        )?;
        Ok(next.flatten().map(Timestamp::from_ms))
    }

    /// Memories and pieces whose vectors were made in another way, with their words.
    pub fn other_embeddings(
        &mut self,
        embedding: &str,
        limit: usize,
    ) -> Result<Vec<(MemoryItem, String)>> {
        let mut found = self.query(
            "SELECT id, text FROM memory WHERE embedding <> ?1 ORDER BY id DESC LIMIT ?2",
            &[embedding.into(), limit_param(limit)],
            |row| Ok((MemoryItem::Memory(row.int(0)?), row.text(1)?)),
        )?;
        let rest = limit.saturating_sub(found.len());
        if rest > 0 {
            found.extend(self.query(
                "SELECT id, heading || ' ' || text FROM document_piece WHERE embedding <> ?1
                 ORDER BY id DESC LIMIT ?2",
                &[embedding.into(), limit_param(rest)],
                |row| Ok((MemoryItem::Piece(row.int(0)?), row.text(1)?)),
            )?);
        }
        Ok(found)
    }

    /// Gives a memory or a piece another vector, if it is still there.
    pub fn set_vector(
        &mut self,
        item: MemoryItem,
        embedding: &str,
        vector: &[u8],
        at: Timestamp,
    ) -> Result<()> {
        let sql = match item {
            MemoryItem::Memory(_) => "UPDATE memory SET embedding = ?2, vector = ?3 WHERE id = ?1",
            MemoryItem::Piece(_) => {
                "UPDATE document_piece SET embedding = ?2, vector = ?3 WHERE id = ?1"
            }
        };
        let changed = self.execute(sql, &[item.row().into(), embedding.into(), vector.into()])?;
        if changed > 0 {
            self.note_memory_change(item, at)?;
        }
        Ok(())
    }

    /// Tells the views that something came, changed or went.
    pub(crate) fn note_memory_change(&mut self, item: MemoryItem, at: Timestamp) -> Result<()> {
        let (what, row) = (item.what(), item.row());
        // First the new one: SQLite would give the number of a last row that is gone to the next, and
        // the views would pass over it.
        let id = self.insert(
            "INSERT INTO memory_change (what, item, at_ms) VALUES (?1, ?2, ?3)",
            &[what.into(), row.into(), at.as_ms().into()],
        )?;
        self.execute(
            "DELETE FROM memory_change WHERE what = ?1 AND item = ?2 AND id < ?3",
            &[what.into(), row.into(), id.into()],
        )?;
        Ok(())
    }

    /// The number of the last change that is there for good, with all before it; see
    /// [`Tx::wait_for_writers`].
    pub fn settled_memory_change(&mut self) -> Result<i64> {
        self.wait_for_writers()?;
        self.newest_memory_change()
    }

    /// The number of the last change.
    pub fn newest_memory_change(&mut self) -> Result<i64> {
        let newest =
            self.query_one("SELECT max(id) FROM memory_change", &[], |row| row.opt_int(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// Changes after one, in order.
    pub fn memory_changes_after(&mut self, after: i64, limit: usize) -> Result<Vec<MemoryChange>> {
        self.query(
            "SELECT id, what, item FROM memory_change WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after.into(), limit_param(limit)],
            |row| {
                Ok(MemoryChange {
                    id: row.int(0)?,
                    item: MemoryItem::read(row.int(1)?, row.int(2)?)?,
                })
            },
        )
    }

    /// Forgets that things went which went long ago; answers how many it forgot. A view that slept
    /// through it finds them gone when it asks for them.
    pub fn prune_memory_changes(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        self.execute(
            "DELETE FROM memory_change WHERE id IN
                 (SELECT c.id FROM memory_change c WHERE c.at_ms < ?1
                    AND c.id < (SELECT max(id) FROM memory_change)
                    AND NOT (c.what = 0 AND EXISTS (SELECT 1 FROM memory m WHERE m.id = c.item))
                    AND NOT (c.what = 1 AND EXISTS
                        (SELECT 1 FROM document_piece p WHERE p.id = c.item))
                  LIMIT ?2)",
            &[before.as_ms().into(), limit_param(limit)],
        )
    }

    /// How many memories of each kind there are: episodic, long-term.
    pub fn count_memories(&mut self) -> Result<(i64, i64)> {
        let mut counts = (0, 0);
        self.each("SELECT kind, count(*) FROM memory GROUP BY kind", &[], |row| {
            match row.int(0)? {
                0 => counts.0 = row.int(1)?,
                _ => counts.1 = row.int(1)?,
            }
            Ok(true)
        })?;
        Ok(counts)
    }

    /// Names and handles of people that a workspace knows, the newest first.
    pub fn known_names(&mut self, workspace: &str, limit: usize) -> Result<Vec<String>> {
        let mut names = self.query(
            "SELECT name FROM person WHERE workspace = ?1 AND name <> '' ORDER BY id DESC LIMIT ?2",
            &[workspace.into(), limit_param(limit)],
            |row| row.text(0),
        )?;
        let aliases = self.query(
            "SELECT alias FROM person_alias WHERE workspace = ?1 AND alias LIKE '%/username/%'
             ORDER BY person DESC LIMIT ?2",
            &[workspace.into(), limit_param(limit)],
            |row| row.text(0),
        )?;
        names
            .extend(aliases.iter().filter_map(|alias| alias.rsplit('/').next()).map(str::to_owned));
        Ok(names)
    }
}

fn memory_row(row: &Row<'_>) -> Result<MemoryRow> {
    Ok(MemoryRow {
        row: row.int(0)?,
        id: MemoryId::from_bytes(&row.blob(1)?).ok_or(StoreError::Corrupt { what: "memory id" })?,
        workspace: row.text(2)?,
        kind: if row.int(3)? == 0 { MemoryKind::Episodic } else { MemoryKind::LongTerm },
        thread_row: row.opt_int(4)?,
        agent: row.text(5)?,
        text: row.text(6)?,
        data: row.text(7)?,
        embedding: row.text(8)?,
        vector: row.blob(9)?,
        is_pinned: row.flag(10)?,
        created: Timestamp::from_ms(row.int(11)?),
        used: Timestamp::from_ms(row.int(12)?),
        expires: row.opt_int(13)?.map(Timestamp::from_ms),
    })
}
