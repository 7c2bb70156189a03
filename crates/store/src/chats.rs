//! Chats: threads that come from a link, and how much of each is held.

use protocol::chat::ChatType;
use protocol::{ThreadId, ThreadStatus, ThreadType, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// A chat as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRow {
    /// Its thread's row.
    pub thread_row: i64,
    /// Its link's row.
    pub link_row: i64,
    /// Its id at the source.
    pub remote_id: String,
    /// What sort it is.
    pub chat_type: ChatType,
    /// Its name; empty where the source gives none.
    pub name: String,
    /// How many take part, as the source counts them.
    pub participants: Option<i64>,
    /// How many messages are held.
    pub messages: i64,
    /// When the oldest of them was sent.
    pub oldest: Option<Timestamp>,
    /// When the newest of them was sent.
    pub newest: Option<Timestamp>,
    /// Where reading its past goes on.
    pub history_cursor: Option<String>,
    /// Whether its past has been read to the end.
    pub is_history_done: bool,
    /// The number of its newest message.
    pub head_seq: i64,
}

/// A chat to be opened.
#[derive(Clone, Copy, Debug)]
pub struct NewChat<'a> {
    /// Its thread's id.
    pub thread_id: ThreadId,
    /// Its workspace.
    pub workspace: &'a str,
    /// Its link.
    pub link_row: i64,
    /// Its link's name.
    pub link_name: &'a str,
    /// Its id at the source.
    pub remote_id: &'a str,
    /// What sort it is.
    pub chat_type: ChatType,
    /// Its name.
    pub name: &'a str,
    /// Its name without regard to case.
    pub folded_name: &'a str,
    /// How many take part.
    pub participants: Option<i64>,
    /// When.
    pub at: Timestamp,
}

/// A stretch of time of which nothing is missing, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldRow {
    /// From when; the least number means from the chat's beginning.
    pub from_ms: i64,
    /// Until when.
    pub to_ms: i64,
}

impl HeldRow {
    /// Stands for the beginning of a chat, whenever that was.
    pub const BEGINNING: i64 = i64::MIN;
}

impl Tx<'_> {
    /// Opens a chat and answers its thread's row.
    pub fn insert_chat(&mut self, new: &NewChat<'_>) -> Result<i64> {
        let at = new.at.as_ms();
        let row = self.insert(
            "INSERT INTO thread (uid, workspace, title, type, status, created_by, created_ms,
                 updated_ms, head_seq, agent_turns, origin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 0, 0, ?8)",
            &[
                new.thread_id.as_bytes().into(),
                new.workspace.into(),
                new.name.into(),
                ThreadType::default().code().into(),
                ThreadStatus::Active.code().into(),
                new.link_name.into(),
                at.into(),
                new.link_row.into(),
            ],
        )?;
        self.execute(
            "INSERT INTO chat (thread, link, remote_id, type, name, folded_name, participants,
                 messages, history_done)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0)",
            &[
                row.into(),
                new.link_row.into(),
                new.remote_id.into(),
                new.chat_type.code().into(),
                new.name.into(),
                new.folded_name.into(),
                new.participants.into(),
            ],
        )?;
        Ok(row)
    }

    /// A chat by its id at the source, or one that it had before; nobody else may append to it until
    /// the commit.
    pub fn lock_chat(&mut self, link_row: i64, remote_id: &str) -> Result<Option<ChatRow>> {
        let found = self.query_one(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread
             WHERE c.link = ?1 AND c.remote_id = ?2 /*lock*/",
            &[link_row.into(), remote_id.into()],
            chat_row,
        )?;
        if found.is_some() {
            return Ok(found);
        }
        self.query_one(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat_former_id f JOIN chat c ON c.thread = f.thread JOIN thread t ON t.id = c.thread
             WHERE f.link = ?1 AND f.remote_id = ?2 /*lock*/",
            &[link_row.into(), remote_id.into()],
            chat_row,
        )
    }

    /// A chat by its id at the source, or one that it had before.
    pub fn chat_by_remote(&mut self, link_row: i64, remote_id: &str) -> Result<Option<ChatRow>> {
        // PostgreSQL takes no such sign, not even in a question.
        if remote_id.contains('\0') {
            return Ok(None);
        }
        self.query_one(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread
             WHERE c.link = ?1 AND (c.remote_id = ?2 OR c.thread =
                 (SELECT f.thread FROM chat_former_id f WHERE f.link = ?1 AND f.remote_id = ?2))",
            &[link_row.into(), remote_id.into()],
            chat_row,
        )
    }

    /// The chats of a link with this name, whatever its case.
    pub fn chats_named(
        &mut self,
        link_row: i64,
        folded_name: &str,
        limit: usize,
    ) -> Result<Vec<ChatRow>> {
        if folded_name.contains('\0') {
            return Ok(Vec::new());
        }
        self.query(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread
             WHERE c.link = ?1 AND c.folded_name = ?2 ORDER BY c.thread LIMIT ?3",
            &[link_row.into(), folded_name.into(), limit_param(limit)],
            chat_row,
        )
    }

    /// The chat of a thread's row.
    pub fn chat(&mut self, thread_row: i64) -> Result<Option<ChatRow>> {
        self.query_one(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread WHERE c.thread = ?1",
            &[thread_row.into()],
            chat_row,
        )
    }

    /// The chats of a link, the one where something was said last first.
    pub fn chats_of_link(&mut self, link_row: i64, limit: usize) -> Result<Vec<ChatRow>> {
        self.query(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread
             WHERE c.link = ?1 ORDER BY COALESCE(c.newest_ms, 0) DESC, c.thread DESC LIMIT ?2",
            &[link_row.into(), limit_param(limit)],
            chat_row,
        )
    }

    /// Chats of a link whose past has not been read to the end, those begun first.
    pub fn chats_to_backfill(&mut self, link_row: i64, limit: usize) -> Result<Vec<ChatRow>> {
        self.query(
            "SELECT c.thread, c.link, c.remote_id, c.type, c.name, c.participants, c.messages,
                    c.oldest_ms, c.newest_ms, c.history_cursor, c.history_done, t.head_seq
             FROM chat c JOIN thread t ON t.id = c.thread
             WHERE c.link = ?1 AND c.history_done = 0
             ORDER BY (c.history_cursor IS NULL), COALESCE(c.newest_ms, 0) DESC, c.thread LIMIT ?2",
            &[link_row.into(), limit_param(limit)],
            chat_row,
        )
    }

    /// Writes back what a source said of a chat.
    pub fn update_chat(&mut self, chat: &ChatRow, folded_name: &str) -> Result<()> {
        self.execute(
            "UPDATE chat SET remote_id = ?2, type = ?3, name = ?4, folded_name = ?5,
                 participants = ?6
             WHERE thread = ?1",
            &[
                chat.thread_row.into(),
                chat.remote_id.as_str().into(),
                chat.chat_type.code().into(),
                chat.name.as_str().into(),
                folded_name.into(),
                chat.participants.into(),
            ],
        )?;
        self.execute(
            "UPDATE thread SET title = ?2 WHERE id = ?1",
            &[chat.thread_row.into(), chat.name.as_str().into()],
        )?;
        Ok(())
    }

    /// Writes back what messages moved.
    pub fn update_chat_head(&mut self, chat: &ChatRow, at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE chat SET messages = ?2, oldest_ms = ?3, newest_ms = ?4 WHERE thread = ?1",
            &[
                chat.thread_row.into(),
                chat.messages.into(),
                chat.oldest.map(Timestamp::as_ms).into(),
                chat.newest.map(Timestamp::as_ms).into(),
            ],
        )?;
        self.execute(
            "UPDATE thread SET head_seq = ?2, updated_ms = ?3 WHERE id = ?1",
            &[chat.thread_row.into(), chat.head_seq.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// Remembers where reading a chat's past goes on.
    pub fn set_history(
        &mut self,
        thread_row: i64,
        cursor: Option<&str>,
        is_done: bool,
    ) -> Result<()> {
        self.execute(
            "UPDATE chat SET history_cursor = ?2, history_done = ?3 WHERE thread = ?1",
            &[thread_row.into(), cursor.into(), is_done.into()],
        )?;
        Ok(())
    }

    /// Remembers an id under which a chat was known before.
    pub fn add_former_id(&mut self, link_row: i64, remote_id: &str, thread_row: i64) -> Result<()> {
        self.execute(
            "INSERT INTO chat_former_id (link, remote_id, thread) VALUES (?1, ?2, ?3)
             ON CONFLICT (link, remote_id) DO NOTHING",
            &[link_row.into(), remote_id.into(), thread_row.into()],
        )?;
        Ok(())
    }

    /// The stretches of which nothing is missing, in order.
    pub fn held(&mut self, thread_row: i64, limit: usize) -> Result<Vec<HeldRow>> {
        self.query(
            "SELECT from_ms, to_ms FROM chat_held WHERE thread = ?1 ORDER BY from_ms LIMIT ?2",
            &[thread_row.into(), limit_param(limit)],
            |row| Ok(HeldRow { from_ms: row.int(0)?, to_ms: row.int(1)? }),
        )
    }

    /// The stretch that holds a moment.
    pub fn held_at(&mut self, thread_row: i64, at_ms: i64) -> Result<Option<HeldRow>> {
        self.query_one(
            "SELECT from_ms, to_ms FROM chat_held
             WHERE thread = ?1 AND from_ms <= ?2 AND to_ms >= ?2",
            &[thread_row.into(), at_ms.into()],
            |row| Ok(HeldRow { from_ms: row.int(0)?, to_ms: row.int(1)? }),
        )
    }

    /// The same for every chat of a link: the thread's row with each stretch, in order.
    pub fn held_of_link(&mut self, link_row: i64, limit: usize) -> Result<Vec<(i64, HeldRow)>> {
        self.query(
            "SELECT h.thread, h.from_ms, h.to_ms FROM chat c JOIN chat_held h ON h.thread = c.thread
             WHERE c.link = ?1 ORDER BY h.thread, h.from_ms LIMIT ?2",
            &[link_row.into(), limit_param(limit)],
            |row| Ok((row.int(0)?, HeldRow { from_ms: row.int(1)?, to_ms: row.int(2)? })),
        )
    }

    /// Adds a stretch, and joins it with those it touches.
    pub fn add_held(&mut self, thread_row: i64, new: HeldRow) -> Result<()> {
        let touching = self.query(
            "SELECT from_ms, to_ms FROM chat_held
             WHERE thread = ?1 AND from_ms <= ?3 AND to_ms >= ?2",
            &[
                thread_row.into(),
                new.from_ms.saturating_sub(1).into(),
                new.to_ms.saturating_add(1).into(),
            ],
            |row| Ok(HeldRow { from_ms: row.int(0)?, to_ms: row.int(1)? }),
        )?;
        let joined = touching.iter().fold(new, |all, one| HeldRow {
            from_ms: all.from_ms.min(one.from_ms),
            to_ms: all.to_ms.max(one.to_ms),
        });
        if touching.as_slice() == [joined] {
            return Ok(());
        }
        for one in &touching {
            self.execute(
                "DELETE FROM chat_held WHERE thread = ?1 AND from_ms = ?2",
                &[thread_row.into(), one.from_ms.into()],
            )?;
        }
        self.execute(
            "INSERT INTO chat_held (thread, from_ms, to_ms) VALUES (?1, ?2, ?3)",
            &[thread_row.into(), joined.from_ms.into(), joined.to_ms.into()],
        )?;
        Ok(())
    }
}

fn chat_row(row: &Row<'_>) -> Result<ChatRow> {
    Ok(ChatRow {
        thread_row: row.int(0)?,
        link_row: row.int(1)?,
        remote_id: row.text(2)?,
        chat_type: ChatType::from_code(row.int(3)?)
            .ok_or(StoreError::Corrupt { what: "chat type" })?,
        name: row.text(4)?,
        participants: row.opt_int(5)?,
        messages: row.int(6)?,
        oldest: row.opt_int(7)?.map(Timestamp::from_ms),
        newest: row.opt_int(8)?.map(Timestamp::from_ms),
        history_cursor: row.opt_text(9)?,
        is_history_done: row.flag(10)?,
        head_seq: row.int(11)?,
    })
}
