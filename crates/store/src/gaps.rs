//! Gaps: chats of which something may have been said while nobody listened.

use protocol::Timestamp;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// A gap that is being filled, from the newest message backwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapRow {
    /// The chat's thread.
    pub thread_row: i64,
    /// The chat's id at the source.
    pub remote_id: String,
    /// Until when everything was held.
    pub until: Timestamp,
    /// Where the reading goes on.
    pub cursor: Option<String>,
}

impl Tx<'_> {
    /// Has every chat of a link whose past has been begun look for what it missed.
    ///
    /// A gap that was not filled yet is read from the newest message again: it has grown.
    pub fn open_gaps(&mut self, link_row: i64) -> Result<u64> {
        self.execute(
            "INSERT INTO chat_gap (thread, link, until_ms, cursor)
             SELECT c.thread, c.link,
                    COALESCE((SELECT max(h.to_ms) FROM chat_held h WHERE h.thread = c.thread),
                             c.newest_ms),
                    NULL
             FROM chat c
             WHERE c.link = ?1 AND (c.history_done = 1 OR c.history_cursor IS NOT NULL)
               AND (c.newest_ms IS NOT NULL
                    OR EXISTS (SELECT 1 FROM chat_held h WHERE h.thread = c.thread))
             ON CONFLICT (thread) DO UPDATE SET cursor = NULL",
            &[link_row.into()],
        )
    }

    /// The gaps of a link, in the chats where something was said last first.
    pub fn gaps_to_fill(&mut self, link_row: i64, limit: usize) -> Result<Vec<GapRow>> {
        self.query(
            "SELECT g.thread, c.remote_id, g.until_ms, g.cursor
             FROM chat_gap g JOIN chat c ON c.thread = g.thread
             WHERE g.link = ?1
             ORDER BY (g.cursor IS NULL), COALESCE(c.newest_ms, 0) DESC, g.thread LIMIT ?2",
            &[link_row.into(), limit_param(limit)],
            gap_row,
        )
    }

    /// Remembers where filling a gap goes on.
    pub fn set_gap_cursor(&mut self, thread_row: i64, cursor: &str) -> Result<()> {
        self.execute(
            "UPDATE chat_gap SET cursor = ?2 WHERE thread = ?1",
            &[thread_row.into(), cursor.into()],
        )?;
        Ok(())
    }

    /// A gap is filled.
    pub fn close_gap(&mut self, thread_row: i64) -> Result<()> {
        self.execute("DELETE FROM chat_gap WHERE thread = ?1", &[thread_row.into()])?;
        Ok(())
    }
}

fn gap_row(row: &Row<'_>) -> Result<GapRow> {
    Ok(GapRow {
        thread_row: row.int(0)?,
        remote_id: row.text(1)?,
        until: Timestamp::from_ms(row.int(2)?),
        cursor: row.opt_text(3)?,
    })
}
