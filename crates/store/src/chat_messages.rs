//! Messages of chats: read by the time they were sent, changed and taken back with a trace.

use std::sync::LazyLock;

use protocol::{MessageId, Timestamp};

use crate::error::{Result, StoreError};
use crate::messages::ReplyTo;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::{Param, Row};

/// A message of a chat, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessageRow {
    /// Its row number, which grows in the order of commits.
    pub row: i64,
    /// The chat's thread.
    pub thread_row: i64,
    /// Its number, in the order of arrival.
    pub seq: i64,
    /// When it was sent.
    pub sent: Timestamp,
    /// The alias of whoever sent it; empty where the source does not say.
    pub sender: String,
    /// Its words.
    pub body: String,
    /// What else is known of it: JSON.
    pub details: Option<String>,
    /// The message it answers, where that is held.
    pub reply_to: Option<ReplyTo>,
    /// Its id at the source.
    pub remote_id: String,
}

impl ChatMessageRow {
    /// The id: the place where the message stands.
    pub fn id(&self) -> Result<MessageId> {
        MessageId::at(self.sent, self.thread_row, self.seq)
            .ok_or(StoreError::Corrupt { what: "message id" })
    }

    /// How much of a page it takes.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.details.as_ref().map_or(0, String::len)
    }
}

/// Messages that one statement appends.
pub const CHAT_MESSAGES_AT_ONCE: usize = 16;
/// What each of them has of its own.
const PARAMS_EACH: usize = 8;

/// Opening and closing the table's indexes costs a third of a message: many share it.
static INSERT_AT_ONCE: LazyLock<String> = LazyLock::new(|| {
    let rows: Vec<String> = (0..CHAT_MESSAGES_AT_ONCE)
        .map(|row| {
            let [seq, sent, sender, body, details, reply_seq, reply_ms, remote_id] =
                std::array::from_fn(|at| 2 + row * PARAMS_EACH + at);
            format!(
                "(?1, ?{seq}, ?{sent}, 0, 2, ?{sender}, '', ?{body}, ?{details}, ?{reply_seq},
                  ?{reply_ms}, 0, ?{remote_id})"
            )
        })
        .collect();
    format!(
        "INSERT INTO message (thread, seq, created_ms, kind, trust, sender, session, body,
             metadata, reply_seq, reply_ms, status_after, remote_id)
         VALUES {}
         ON CONFLICT (thread, remote_id) WHERE remote_id IS NOT NULL DO NOTHING",
        rows.join(", ")
    )
});

/// A message to be appended to a chat.
#[derive(Clone, Copy, Debug)]
pub struct NewChatMessage<'a> {
    /// The chat's thread.
    pub thread_row: i64,
    /// Its number: the thread's head plus one.
    pub seq: i64,
    /// When it was sent.
    pub sent: Timestamp,
    /// The alias of whoever sent it.
    pub sender: &'a str,
    /// Its words.
    pub body: &'a str,
    /// What else is known of it: JSON.
    pub details: Option<&'a str>,
    /// The message it answers.
    pub reply_to: Option<ReplyTo>,
    /// Its id at the source.
    pub remote_id: &'a str,
}

/// What happened to a message after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Its words changed.
    Edited,
    /// It was taken back.
    Deleted,
    /// Its time was up.
    Expired,
    /// Signs on it changed; its words did not.
    Reacted,
}

impl ChangeKind {
    const fn code(self) -> i64 {
        match self {
            Self::Edited => 0,
            Self::Deleted => 1,
            Self::Expired => 2,
            Self::Reacted => 3,
        }
    }

    fn from_code(code: i64) -> Result<Self> {
        match code {
            0 => Ok(Self::Edited),
            1 => Ok(Self::Deleted),
            2 => Ok(Self::Expired),
            3 => Ok(Self::Reacted),
            _ => Err(StoreError::Corrupt { what: "message change" }),
        }
    }
}

/// A change, with what the message was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Its row, which grows in the order of commits.
    pub row: i64,
    /// The chat's thread.
    pub thread_row: i64,
    /// The message's number.
    pub seq: i64,
    /// The message's row.
    pub message_row: i64,
    /// What happened.
    pub kind: ChangeKind,
    /// When.
    pub at: Timestamp,
    /// The words before; absent where they must not be kept.
    pub body: Option<String>,
}

/// A change to be remembered.
#[derive(Clone, Copy, Debug)]
pub struct NewChange<'a> {
    /// The message as it was.
    pub before: &'a ChatMessageRow,
    /// What happens.
    pub kind: ChangeKind,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Option<&'a str>,
    /// Whether what it was before is kept.
    pub is_kept: bool,
}

/// Which messages of a chat to read, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ChatSpan {
    /// Sent at or after this.
    pub since_ms: i64,
    /// Sent before this place: a time, and among equals a number.
    pub before: (i64, i64),
}

impl Tx<'_> {
    /// Appends a message; `false` when the chat has one of that id already.
    pub fn insert_chat_message(&mut self, new: &NewChatMessage<'_>) -> Result<bool> {
        let added = self.execute(
            "INSERT INTO message (thread, seq, created_ms, kind, trust, sender, session, body,
                 metadata, reply_seq, reply_ms, status_after, remote_id)
             VALUES (?1, ?2, ?3, 0, 2, ?4, '', ?5, ?6, ?7, ?8, 0, ?9)
             ON CONFLICT (thread, remote_id) WHERE remote_id IS NOT NULL DO NOTHING",
            &[
                new.thread_row.into(),
                new.seq.into(),
                new.sent.as_ms().into(),
                new.sender.into(),
                new.body.into(),
                new.details.into(),
                new.reply_to.map(|to| to.seq).into(),
                new.reply_to.map(|to| to.created.as_ms()).into(),
                new.remote_id.into(),
            ],
        )?;
        Ok(added > 0)
    }

    /// Appends as many messages as fit one statement, to one chat; adds none of them, and answers
    /// `false`, when the chat has any of their ids already.
    pub fn insert_chat_messages(
        &mut self,
        thread_row: i64,
        new: &[NewChatMessage<'_>; CHAT_MESSAGES_AT_ONCE],
    ) -> Result<bool> {
        let mut params: Vec<Param<'_>> = Vec::with_capacity(1 + PARAMS_EACH * new.len());
        params.push(thread_row.into());
        for one in new {
            params.extend::<[Param<'_>; PARAMS_EACH]>([
                one.seq.into(),
                one.sent.as_ms().into(),
                one.sender.into(),
                one.body.into(),
                one.details.into(),
                one.reply_to.map(|to| to.seq).into(),
                one.reply_to.map(|to| to.created.as_ms()).into(),
                one.remote_id.into(),
            ]);
        }
        let added = self.execute(&INSERT_AT_ONCE, &params)?;
        if added == u64::try_from(new.len()).unwrap_or(u64::MAX) {
            return Ok(true);
        }
        let [first, .., last] = new;
        self.execute(
            "DELETE FROM message WHERE thread = ?1 AND seq BETWEEN ?2 AND ?3",
            &[thread_row.into(), first.seq.into(), last.seq.into()],
        )?;
        Ok(false)
    }

    /// A message by its id at the source.
    pub fn chat_message(
        &mut self,
        thread_row: i64,
        remote_id: &str,
    ) -> Result<Option<ChatMessageRow>> {
        self.query_one(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message WHERE thread = ?1 AND remote_id = ?2",
            &[thread_row.into(), remote_id.into()],
            chat_message_row,
        )
    }

    /// A message by its number.
    pub fn chat_message_at(&mut self, thread_row: i64, seq: i64) -> Result<Option<ChatMessageRow>> {
        self.query_one(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message WHERE thread = ?1 AND seq = ?2 AND remote_id IS NOT NULL",
            &[thread_row.into(), seq.into()],
            chat_message_row,
        )
    }

    /// A message by its row.
    pub fn chat_message_of_row(&mut self, row: i64) -> Result<Option<ChatMessageRow>> {
        self.query_one(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message WHERE id = ?1 AND remote_id IS NOT NULL",
            &[row.into()],
            chat_message_row,
        )
    }

    /// Messages of a chat, newest first by the time they were sent.
    pub fn chat_messages(
        &mut self,
        thread_row: i64,
        span: ChatSpan,
        offset: usize,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<ChatMessageRow>> {
        let mut page = Vec::new();
        let mut bytes = 0;
        self.each(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message
             WHERE thread = ?1 AND remote_id IS NOT NULL AND created_ms >= ?2
               AND (created_ms, seq) < (?3, ?4)
             ORDER BY created_ms DESC, seq DESC LIMIT ?5 OFFSET ?6",
            &[
                thread_row.into(),
                span.since_ms.into(),
                span.before.0.into(),
                span.before.1.into(),
                limit_param(limit),
                limit_param(offset),
            ],
            |row| {
                let message = chat_message_row(row)?;
                bytes += message.bytes();
                page.push(message);
                Ok(bytes < bytes_max)
            },
        )?;
        Ok(page)
    }

    /// Messages of a chat from a place on, oldest first by the time they were sent; the page ends early
    /// once it holds enough bytes.
    pub fn chat_messages_after(
        &mut self,
        thread_row: i64,
        (sent_ms, seq): (i64, i64),
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<ChatMessageRow>> {
        let mut page = Vec::new();
        let mut bytes = 0;
        self.each(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message
             WHERE thread = ?1 AND remote_id IS NOT NULL AND (created_ms, seq) > (?2, ?3)
             ORDER BY created_ms, seq LIMIT ?4",
            &[thread_row.into(), sent_ms.into(), seq.into(), limit_param(limit)],
            |row| {
                let message = chat_message_row(row)?;
                bytes += message.bytes();
                page.push(message);
                Ok(bytes < bytes_max)
            },
        )?;
        Ok(page)
    }

    /// Messages of every chat after a row and up to another, in the order of rows; for views that
    /// follow the log.
    pub fn chat_log_after(
        &mut self,
        after_row: i64,
        upto_row: i64,
        limit: usize,
    ) -> Result<Vec<ChatMessageRow>> {
        // A hub without chats would otherwise read every message of its agents once more.
        if self.query("SELECT thread FROM chat LIMIT 1", &[], |row| row.int(0))?.is_empty() {
            return Ok(Vec::new());
        }
        self.query(
            "SELECT id, thread, seq, created_ms, sender, body, metadata, reply_seq, reply_ms, remote_id
             FROM message WHERE id > ?1 AND id <= ?2 AND remote_id IS NOT NULL AND thread > 0
             ORDER BY id LIMIT ?3",
            &[after_row.into(), upto_row.into(), limit_param(limit)],
            chat_message_row,
        )
    }

    /// Changes what a message says, and remembers what it said before.
    pub fn change_chat_message(
        &mut self,
        change: &NewChange<'_>,
        body: &str,
        details: Option<&str>,
    ) -> Result<()> {
        let before = change.before;
        let kept = |text: &'_ str| change.is_kept.then(|| text.to_owned());
        self.execute(
            "INSERT INTO message_change (thread, seq, message, kind, at_ms, by_alias, body, metadata)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            &[
                before.thread_row.into(),
                before.seq.into(),
                before.row.into(),
                change.kind.code().into(),
                change.at.as_ms().into(),
                change.by.into(),
                kept(&before.body).as_ref().into(),
                before.details.as_deref().and_then(kept).as_ref().into(),
            ],
        )?;
        if !change.is_kept {
            self.execute(
                "UPDATE message_change SET body = NULL, metadata = NULL
                 WHERE thread = ?1 AND seq = ?2",
                &[before.thread_row.into(), before.seq.into()],
            )?;
        }
        self.execute(
            "UPDATE message SET body = ?2, metadata = ?3 WHERE id = ?1",
            &[before.row.into(), body.into(), details.into()],
        )?;
        Ok(())
    }

    /// Changes what is known of a message beside its words.
    pub fn react(&mut self, change: &NewChange<'_>, details: Option<&str>) -> Result<()> {
        self.execute(
            "INSERT INTO message_change (thread, seq, message, kind, at_ms, by_alias)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[
                change.before.thread_row.into(),
                change.before.seq.into(),
                change.before.row.into(),
                change.kind.code().into(),
                change.at.as_ms().into(),
                change.by.into(),
            ],
        )?;
        self.execute(
            "UPDATE message SET metadata = ?2 WHERE id = ?1",
            &[change.before.row.into(), details.into()],
        )?;
        Ok(())
    }

    /// What a message was before, the oldest version first.
    pub fn chat_message_changes(
        &mut self,
        thread_row: i64,
        seq: i64,
        limit: usize,
    ) -> Result<Vec<ChangeRow>> {
        self.query(
            "SELECT id, thread, seq, message, kind, at_ms, body FROM message_change
             WHERE thread = ?1 AND seq = ?2 ORDER BY id LIMIT ?3",
            &[thread_row.into(), seq.into(), limit_param(limit)],
            change_row,
        )
    }

    /// Changes of every chat after a row, in the order of rows; for views that follow the log.
    pub fn changes_after(&mut self, after_row: i64, limit: usize) -> Result<Vec<ChangeRow>> {
        self.query(
            "SELECT id, thread, seq, message, kind, at_ms, body FROM message_change
             WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after_row.into(), limit_param(limit)],
            change_row,
        )
    }

    /// The changes after one, in order, each with its chat.
    pub fn change_rows_after(&mut self, after_row: i64, limit: usize) -> Result<Vec<(i64, i64)>> {
        self.query(
            "SELECT id, thread FROM message_change WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after_row.into(), limit_param(limit)],
            |row| Ok((row.int(0)?, row.int(1)?)),
        )
    }

    /// The newest change.
    pub fn newest_change_row(&mut self) -> Result<i64> {
        let newest =
            self.query_one("SELECT max(id) FROM message_change", &[], |row| row.opt_int(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// Remembers changes to a message that has not come yet.
    pub fn put_early_change(
        &mut self,
        thread_row: i64,
        remote_id: &str,
        facts: &str,
        at: Timestamp,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO early_change (thread, remote_id, facts, at_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (thread, remote_id) DO UPDATE SET facts = excluded.facts",
            &[thread_row.into(), remote_id.into(), facts.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// The changes to a message that came before it.
    pub fn early_change(&mut self, thread_row: i64, remote_id: &str) -> Result<Option<String>> {
        self.query_one(
            "SELECT facts FROM early_change WHERE thread = ?1 AND remote_id = ?2",
            &[thread_row.into(), remote_id.into()],
            |row| row.text(0),
        )
    }

    /// Whether any change came before its message; asking once spares a look-up for each message.
    pub fn has_early_changes(&mut self, thread_row: i64) -> Result<bool> {
        let any = self.query_one(
            "SELECT 1 FROM early_change WHERE thread = ?1 LIMIT 1",
            &[thread_row.into()],
            |_| Ok(()),
        )?;
        Ok(any.is_some())
    }

    /// Forgets changes that have found their message.
    pub fn delete_early_change(&mut self, thread_row: i64, remote_id: &str) -> Result<()> {
        self.execute(
            "DELETE FROM early_change WHERE thread = ?1 AND remote_id = ?2",
            &[thread_row.into(), remote_id.into()],
        )?;
        Ok(())
    }

    /// Has a message forgotten at a time.
    pub fn add_expiry(&mut self, at: Timestamp, thread_row: i64, seq: i64) -> Result<()> {
        self.execute(
            "INSERT INTO message_expiry (at_ms, thread, seq) VALUES (?1, ?2, ?3)
             ON CONFLICT (at_ms, thread, seq) DO NOTHING",
            &[at.as_ms().into(), thread_row.into(), seq.into()],
        )?;
        Ok(())
    }

    /// Messages whose time is up, with that time.
    pub fn expired(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(Timestamp, i64, i64)>> {
        self.query(
            "SELECT at_ms, thread, seq FROM message_expiry WHERE at_ms <= ?1
             ORDER BY at_ms LIMIT ?2",
            &[now.as_ms().into(), limit_param(limit)],
            |row| Ok((Timestamp::from_ms(row.int(0)?), row.int(1)?, row.int(2)?)),
        )
    }

    /// When the next message must be forgotten.
    pub fn next_expiry(&mut self) -> Result<Option<Timestamp>> {
        let next =
            self.query_one("SELECT min(at_ms) FROM message_expiry", &[], |row| row.opt_int(0))?;
        Ok(next.flatten().map(Timestamp::from_ms))
    }

    /// A message has been forgotten.
    pub fn delete_expiry(&mut self, at: Timestamp, thread_row: i64, seq: i64) -> Result<()> {
        self.execute(
            "DELETE FROM message_expiry WHERE at_ms = ?1 AND thread = ?2 AND seq = ?3",
            &[at.as_ms().into(), thread_row.into(), seq.into()],
        )?;
        Ok(())
    }

    /// How many messages of a file an import has taken.
    pub fn import_progress(&mut self, workspace: &str, fingerprint: &str) -> Result<i64> {
        let done = self.query_one(
            "SELECT messages_done FROM import_progress WHERE workspace = ?1 AND fingerprint = ?2",
            &[workspace.into(), fingerprint.into()],
            |row| row.int(0),
        )?;
        Ok(done.unwrap_or(0))
    }

    /// Remembers how many messages of a file an import has taken.
    pub fn set_import_progress(
        &mut self,
        workspace: &str,
        fingerprint: &str,
        messages_done: i64,
        at: Timestamp,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO import_progress (workspace, fingerprint, messages_done, updated_ms)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (workspace, fingerprint) DO UPDATE
             SET messages_done = excluded.messages_done, updated_ms = excluded.updated_ms",
            &[workspace.into(), fingerprint.into(), messages_done.into(), at.as_ms().into()],
        )?;
        Ok(())
    }
}

fn chat_message_row(row: &Row<'_>) -> Result<ChatMessageRow> {
    let reply = row.opt_int(7)?.zip(row.opt_int(8)?);
    Ok(ChatMessageRow {
        row: row.int(0)?,
        thread_row: row.int(1)?,
        seq: row.int(2)?,
        sent: Timestamp::from_ms(row.int(3)?),
        sender: row.text(4)?,
        body: row.text(5)?,
        details: row.opt_text(6)?,
        reply_to: reply.map(|(seq, ms)| ReplyTo { seq, created: Timestamp::from_ms(ms) }),
        remote_id: row.text(9)?,
    })
}

fn change_row(row: &Row<'_>) -> Result<ChangeRow> {
    Ok(ChangeRow {
        row: row.int(0)?,
        thread_row: row.int(1)?,
        seq: row.int(2)?,
        message_row: row.int(3)?,
        kind: ChangeKind::from_code(row.int(4)?)?,
        at: Timestamp::from_ms(row.int(5)?),
        body: row.opt_text(6)?,
    })
}
