//! What a turn of an agent is given of its thread: the summary of what was said, and the open task.

use protocol::{TaskId, Timestamp};

use crate::error::Result;
use crate::messages::{MessageRow, message_row};
use crate::threads::limit_param;
use crate::tx::Tx;

/// The summary of a thread's turns, as it was last made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLayerRow {
    /// The newest message in it.
    pub through_seq: i64,
    /// What it says.
    pub summary: String,
    /// When it was made.
    pub updated: Timestamp,
}

impl Tx<'_> {
    /// The stored summary of a thread's turns.
    pub fn session_layer(&mut self, thread_row: i64) -> Result<Option<SessionLayerRow>> {
        self.query_one(
            "SELECT through_seq, summary, updated_ms FROM session_layer WHERE thread = ?1",
            &[thread_row.into()],
            |row| {
                Ok(SessionLayerRow {
                    through_seq: row.int(0)?,
                    summary: row.text(1)?,
                    updated: Timestamp::from_ms(row.int(2)?),
                })
            },
        )
    }

    /// Stores the summary of a thread's turns, unless one of more turns is there.
    pub fn set_session_layer(&mut self, thread_row: i64, layer: &SessionLayerRow) -> Result<()> {
        self.execute(
            "INSERT INTO session_layer (thread, through_seq, summary, updated_ms)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (thread) DO UPDATE SET through_seq = excluded.through_seq,
                 summary = excluded.summary, updated_ms = excluded.updated_ms
             WHERE session_layer.through_seq <= excluded.through_seq",
            &[
                thread_row.into(),
                layer.through_seq.into(),
                layer.summary.as_str().into(),
                layer.updated.as_ms().into(),
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
            "SELECT task FROM work WHERE thread = ?1 AND seq = ?2 AND state IN (0, 1, 5) LIMIT 1",
            &[thread_row.into(), seq.into()],
            |row| row.blob(0),
        )?;
        Ok(task.as_deref().and_then(TaskId::from_bytes))
    }

    /// Whether somebody still has to work on a task.
    pub fn is_task_open(&mut self, thread_row: i64, task: TaskId) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM work WHERE thread = ?1 AND task = ?2 AND state IN (0, 1, 5) LIMIT 1",
            &[thread_row.into(), task.as_bytes().into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}
