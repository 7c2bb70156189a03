//! Read checkpoints.

use protocol::{MessageId, Timestamp};

use crate::error::Result;
use crate::tx::Tx;
use crate::value::Row;

/// How far an agent has read in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorRow {
    /// The thread's row.
    pub thread_row: i64,
    /// The reader.
    pub agent: String,
    /// Everything up to here has been read.
    pub last_read_seq: i64,
    /// When that message was taken.
    pub last_read: Timestamp,
    /// When it was acknowledged.
    pub updated: Timestamp,
}

impl CursorRow {
    /// The message with that number; `None` before the first.
    pub fn message_id(&self) -> Option<MessageId> {
        (self.last_read_seq > 0)
            .then(|| MessageId::at(self.last_read, self.thread_row, self.last_read_seq))
            .flatten()
    }
}

impl Tx<'_> {
    /// An agent's cursor.
    pub fn cursor(&mut self, thread_row: i64, agent: &str) -> Result<Option<CursorRow>> {
        self.query_one(
            "SELECT thread, agent, last_read_seq, last_read_ms, updated_ms
             FROM read_cursor WHERE thread = ?1 AND agent = ?2",
            &[thread_row.into(), agent.into()],
            cursor_row,
        )
    }

    /// Every cursor of a thread.
    pub fn cursors(&mut self, thread_row: i64) -> Result<Vec<CursorRow>> {
        self.query(
            "SELECT thread, agent, last_read_seq, last_read_ms, updated_ms
             FROM read_cursor WHERE thread = ?1 ORDER BY agent LIMIT 1000",
            &[thread_row.into()],
            cursor_row,
        )
    }

    /// Moves an agent's cursor.
    pub fn set_cursor(&mut self, cursor: &CursorRow) -> Result<()> {
        self.execute(
            "INSERT INTO read_cursor (thread, agent, last_read_seq, last_read_ms, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (thread, agent) DO UPDATE SET last_read_seq = excluded.last_read_seq,
                 last_read_ms = excluded.last_read_ms, updated_ms = excluded.updated_ms",
            &[
                cursor.thread_row.into(),
                cursor.agent.as_str().into(),
                cursor.last_read_seq.into(),
                cursor.last_read.as_ms().into(),
                cursor.updated.as_ms().into(),
            ],
        )?;
        Ok(())
    }
}

fn cursor_row(row: &Row<'_>) -> Result<CursorRow> {
    Ok(CursorRow {
        thread_row: row.int(0)?,
        agent: row.text(1)?,
        last_read_seq: row.int(2)?,
        last_read: Timestamp::from_ms(row.int(3)?),
        updated: Timestamp::from_ms(row.int(4)?),
    })
}
