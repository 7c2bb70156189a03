//! Messages: appended, never overwritten.

use protocol::{MessageId, MessageKind, ThreadStatus, Timestamp, Trust};

use crate::engine::Engine;
use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// The message that another one answers, in the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyTo {
    /// Its number.
    pub seq: i64,
    /// When it was taken.
    pub created: Timestamp,
}

/// A message to be appended. Its number is the thread's head plus one.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// The thread's row.
    pub thread_row: i64,
    /// Its number.
    pub seq: i64,
    /// When it was taken.
    pub created: Timestamp,
    /// What it is.
    pub kind: MessageKind,
    /// Where it came from.
    pub trust: Trust,
    /// Who sent it.
    pub sender: &'a str,
    /// From which session.
    pub session: &'a str,
    /// The text.
    pub body: &'a str,
    /// Canonical JSON.
    pub metadata: Option<&'a str>,
    /// The message it answers.
    pub reply_to: Option<ReplyTo>,
    /// The sender's key, and its hash.
    pub idempotency: Option<(&'a str, i64)>,
    /// How the thread stands afterwards.
    pub status_after: ThreadStatus,
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its row number, which grows in the order of commits on SQLite.
    pub row: i64,
    /// The thread's row.
    pub thread_row: i64,
    /// Its number.
    pub seq: i64,
    /// When it was taken.
    pub created: Timestamp,
    /// What it is.
    pub kind: MessageKind,
    /// Where it came from.
    pub trust: Trust,
    /// Who sent it.
    pub sender: String,
    /// From which session.
    pub session: String,
    /// The text.
    pub body: String,
    /// Canonical JSON.
    pub metadata: Option<String>,
    /// The message it answers.
    pub reply_to: Option<ReplyTo>,
    /// The sender's key.
    pub idempotency_key: Option<String>,
    /// How the thread stood afterwards.
    pub status_after: ThreadStatus,
}

impl MessageRow {
    /// The id: the place where the message stands.
    pub fn id(&self) -> Result<MessageId> {
        message_id(self.created, self.thread_row, self.seq)
    }

    /// How much of a page it takes.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.metadata.as_ref().map_or(0, String::len)
    }

    /// The id of the message it answers.
    pub fn reply_id(&self) -> Result<Option<MessageId>> {
        self.reply_to.map(|to| message_id(to.created, self.thread_row, to.seq)).transpose()
    }
}

fn message_id(created: Timestamp, thread_row: i64, seq: i64) -> Result<MessageId> {
    MessageId::at(created, thread_row, seq).ok_or(StoreError::Corrupt { what: "message id" })
}

impl Tx<'_> {
    /// Appends a message.
    pub fn insert_message(&mut self, new: &NewMessage<'_>) -> Result<()> {
        self.touch(new.thread_row);
        let row = self.insert(
            "INSERT INTO message (thread, seq, created_ms, kind, trust, sender, session, body,
                 metadata, reply_seq, reply_ms, idem_hash, idem_key, status_after)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            &[
                new.thread_row.into(),
                new.seq.into(),
                new.created.as_ms().into(),
                new.kind.code().into(),
                new.trust.code().into(),
                new.sender.into(),
                new.session.into(),
                new.body.into(),
                new.metadata.into(),
                new.reply_to.map(|to| to.seq).into(),
                new.reply_to.map(|to| to.created.as_ms()).into(),
                new.idempotency.map(|(_, hash)| hash).into(),
                new.idempotency.map(|(key, _)| key).into(),
                new.status_after.code().into(),
            ],
        )?;
        if let (Some((_, hash)), Some(mut keys)) = (new.idempotency, self.unfiled_keys()) {
            let bytes = new.body.len() + new.metadata.map_or(0, str::len);
            keys.add(new.thread_row, hash, row, bytes);
        }
        Ok(())
    }

    /// The message an agent once posted with this key, for a transaction that writes.
    pub fn message_by_key(
        &mut self,
        thread_row: i64,
        sender: &str,
        key: &str,
        hash: i64,
    ) -> Result<Option<MessageRow>> {
        // Ordered by id, not by seq: either index ends with the id, so nothing is sorted, and no planner
        // is tempted to walk the whole thread backwards instead.
        const INDEXED: &str =
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body,
                    metadata, reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND idem_hash = ?2 AND sender = ?3 AND idem_key = ?4
             ORDER BY id DESC LIMIT 1";
        const FILED: &str = "SELECT m.id, m.thread, m.seq, m.created_ms, m.kind, m.trust, m.sender,
                    m.session, m.body, m.metadata, m.reply_seq, m.reply_ms, m.idem_key, m.status_after
             FROM message_key k JOIN message m ON m.id = k.message
             WHERE k.thread = ?1 AND k.idem_hash = ?2 AND m.sender = ?3 AND m.idem_key = ?4
             ORDER BY k.message DESC LIMIT 1";
        let params = [thread_row.into(), hash.into(), sender.into(), key.into()];
        if self.engine() == Engine::Postgres {
            return self.query_one(INDEXED, &params, message_row);
        }
        let Some(unfiled) = self.unfiled_keys() else { return Err(StoreError::Closed) };
        let unfiled = unfiled.messages(thread_row, hash);
        // They are newer than those that are filed.
        for row in unfiled {
            let found = self.query_one(
                "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                        reply_seq, reply_ms, idem_key, status_after
                 FROM message WHERE id = ?1 AND sender = ?2 AND idem_key = ?3",
                &[row.into(), sender.into(), key.into()],
                message_row,
            )?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.query_one(FILED, &params, message_row)
    }

    /// The message with this number.
    pub fn message(&mut self, thread_row: i64, seq: i64) -> Result<Option<MessageRow>> {
        self.query_one(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND seq = ?2",
            &[thread_row.into(), seq.into()],
            message_row,
        )
    }

    /// Messages after a number, in order, while the page has room for their bytes.
    pub fn messages_after(
        &mut self,
        thread_row: i64,
        after_seq: i64,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<MessageRow>> {
        let mut page = Vec::new();
        let mut bytes = 0;
        self.each(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            &[thread_row.into(), after_seq.into(), limit_param(limit)],
            |row| {
                let message = message_row(row)?;
                bytes += message.bytes();
                page.push(message);
                Ok(bytes < bytes_max)
            },
        )?;
        Ok(page)
    }

    /// The same, without those that one agent sent itself.
    pub fn messages_of_others_after(
        &mut self,
        thread_row: i64,
        after_seq: i64,
        reader: &str,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<MessageRow>> {
        let mut page = Vec::new();
        let mut bytes = 0;
        self.each(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND seq > ?2 AND sender <> ?4 ORDER BY seq LIMIT ?3",
            &[thread_row.into(), after_seq.into(), limit_param(limit), reader.into()],
            |row| {
                let message = message_row(row)?;
                bytes += message.bytes();
                page.push(message);
                Ok(bytes < bytes_max)
            },
        )?;
        Ok(page)
    }

    /// How many messages of others stand after a number, counted up to a limit.
    pub fn unread(
        &mut self,
        thread_row: i64,
        after_seq: i64,
        reader: &str,
        limit: i64,
    ) -> Result<i64> {
        let counted = self.query_one(
            "SELECT count(*) FROM (SELECT 1 AS one FROM message
                 WHERE thread = ?1 AND seq > ?2 AND sender <> ?3 LIMIT ?4) AS unread",
            &[thread_row.into(), after_seq.into(), reader.into(), limit.into()],
            |row| row.int(0),
        )?;
        Ok(counted.unwrap_or(0))
    }

    /// The newest message of others after a number; 0 for none.
    pub fn newest_of_others(
        &mut self,
        thread_row: i64,
        after_seq: i64,
        reader: &str,
    ) -> Result<i64> {
        let newest = self.query_one(
            "SELECT seq FROM message WHERE thread = ?1 AND seq > ?2 AND sender <> ?3
             ORDER BY seq DESC LIMIT 1",
            &[thread_row.into(), after_seq.into(), reader.into()],
            |row| row.int(0),
        )?;
        Ok(newest.unwrap_or(0))
    }

    /// The messages that answer this one.
    pub fn replies(&mut self, thread_row: i64, seq: i64, limit: usize) -> Result<Vec<MessageRow>> {
        self.query(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND reply_seq = ?2 ORDER BY seq LIMIT ?3",
            &[thread_row.into(), seq.into(), limit_param(limit)],
            message_row,
        )
    }

    /// Messages of every thread after a row, in the order of rows; for views that follow the log.
    /// Those of chats are left out.
    pub fn log_after(&mut self, after_row: i64, limit: usize) -> Result<Vec<MessageRow>> {
        self.query(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE id > ?1 AND remote_id IS NULL ORDER BY id LIMIT ?2",
            &[after_row.into(), limit_param(limit)],
            message_row,
        )
    }

    /// The rows after one, in order, each with its thread.
    pub fn rows_after(&mut self, after_row: i64, limit: usize) -> Result<Vec<(i64, i64)>> {
        self.query(
            "SELECT id, thread FROM message WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after_row.into(), limit_param(limit)],
            |row| Ok((row.int(0)?, row.int(1)?)),
        )
    }

    /// The newest row of the log.
    pub fn newest_message_row(&mut self) -> Result<i64> {
        let newest = self.query_one("SELECT max(id) FROM message", &[], |row| row.opt_int(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// The newest row of the log that no older row can still appear before.
    pub fn settled_message_row(&mut self) -> Result<i64> {
        self.wait_for_writers()?;
        self.newest_message_row()
    }
}

pub(crate) fn message_row(row: &Row<'_>) -> Result<MessageRow> {
    let reply_seq = row.opt_int(10)?;
    let reply_ms = row.opt_int(11)?;
    Ok(MessageRow {
        row: row.int(0)?,
        thread_row: row.int(1)?,
        seq: row.int(2)?,
        created: Timestamp::from_ms(row.int(3)?),
        kind: MessageKind::from_code(row.int(4)?)
            .ok_or(StoreError::Corrupt { what: "message kind" })?,
        trust: Trust::from_code(row.int(5)?),
        sender: row.text(6)?,
        session: row.text(7)?,
        body: row.text(8)?,
        metadata: row.opt_text(9)?,
        reply_to: reply_seq
            .zip(reply_ms)
            .map(|(seq, ms)| ReplyTo { seq, created: Timestamp::from_ms(ms) }),
        idempotency_key: row.opt_text(12)?,
        status_after: ThreadStatus::from_code(row.int(13)?)
            .ok_or(StoreError::Corrupt { what: "thread status" })?,
    })
}
