//! What a turn of an agent is given of its thread: the summary of what was said, and the open task.

use protocol::{TaskId, Timestamp};

use crate::error::Result;
use crate::messages::{MessageRow, message_row};
use crate::threads::limit_param;
use crate::tx::Tx;

/// The summary of a thread's turns, as it was last made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLayerRow {
    /// The oldest message in it.
    pub from_seq: i64,
    /// The newest message in it.
    pub through_seq: i64,
    /// What it says.
    pub summary: String,
    /// What made it: `quoted`, or `model:` and a name.
    pub method: String,
    /// When it was made.
    pub updated: Timestamp,
    /// The hub's digest of the very turns it was made of.
    pub turns: String,
}

impl Tx<'_> {
    /// The stored summary of a thread's turns.
    pub fn session_layer(&mut self, thread_row: i64) -> Result<Option<SessionLayerRow>> {
        self.query_one(
            "SELECT from_seq, through_seq, summary, method, updated_ms, turns
             FROM session_layer WHERE thread = ?1",
            &[thread_row.into()],
            |row| {
                Ok(SessionLayerRow {
                    from_seq: row.int(0)?,
                    through_seq: row.int(1)?,
                    summary: row.text(2)?,
                    method: row.text(3)?,
                    updated: Timestamp::from_ms(row.int(4)?),
                    turns: row.text(5)?,
                })
            },
        )
    }

    /// Stores the summary of a thread's turns, unless one of newer turns is there, or a model's of the
    /// same turns and this one is not.
    pub fn set_session_layer(&mut self, thread_row: i64, layer: &SessionLayerRow) -> Result<()> {
        self.execute(
            "INSERT INTO session_layer
                 (thread, from_seq, through_seq, summary, method, updated_ms, turns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (thread) DO UPDATE SET from_seq = excluded.from_seq,
                 through_seq = excluded.through_seq, summary = excluded.summary,
                 method = excluded.method, updated_ms = excluded.updated_ms, turns = excluded.turns
             WHERE session_layer.through_seq < excluded.through_seq
                 OR (session_layer.through_seq = excluded.through_seq
                     AND (session_layer.method NOT LIKE 'model:%'
                          OR excluded.method LIKE 'model:%'))",
            &[
                thread_row.into(),
                layer.from_seq.into(),
                layer.through_seq.into(),
                layer.summary.as_str().into(),
                layer.method.as_str().into(),
                layer.updated.as_ms().into(),
                layer.turns.as_str().into(),
            ],
        )?;
        Ok(())
    }

    /// The newest messages up to a number that are not older than a moment, the newest first, while the
    /// page has room for their bytes.
    pub fn newest_messages(
        &mut self,
        thread_row: i64,
        (upto_seq, since): (i64, Timestamp),
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<MessageRow>> {
        let mut page = Vec::new();
        let mut bytes = 0;
        self.each(
            "SELECT id, thread, seq, created_ms, kind, trust, sender, session, body, metadata,
                    reply_seq, reply_ms, idem_key, status_after
             FROM message WHERE thread = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT ?3",
            &[thread_row.into(), upto_seq.into(), limit_param(limit)],
            |row| {
                let message = message_row(row)?;
                if message.created < since {
                    return Ok(false);
                }
                bytes += message.bytes();
                page.push(message);
                Ok(bytes < bytes_max)
            },
        )?;
        Ok(page)
    }

    /// The task of the open work about a message.
    pub fn open_task_at(&mut self, thread_row: i64, seq: i64) -> Result<Option<TaskId>> {
        let task = self.query_one(
            "SELECT task FROM work WHERE thread = ?1 AND seq = ?2 AND (state < 2 OR state = 5) LIMIT 1",
            &[thread_row.into(), seq.into()],
            |row| row.blob(0),
        )?;
        Ok(task.as_deref().and_then(TaskId::from_bytes))
    }

    /// Whether somebody still has to work on a task.
    pub fn is_task_open(&mut self, thread_row: i64, task: TaskId) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM work WHERE thread = ?1 AND task = ?2 AND (state < 2 OR state = 5) LIMIT 1",
            &[thread_row.into(), task.as_bytes().into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}
