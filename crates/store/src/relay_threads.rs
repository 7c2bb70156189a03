//! Threads that stand for something at a service: an issue, a work package, a thread of talk.

use protocol::TaskId;

use crate::error::Result;
use crate::threads::ThreadRow;
use crate::tx::Tx;
use crate::value::Row;

/// What a thread stands for at a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayThreadRow {
    /// The thread's row.
    pub thread_row: i64,
    /// The link it came through.
    pub link_row: i64,
    /// What it is there: `github:acme/shop#12`.
    pub key: String,
    /// The channel: `github`.
    pub channel: String,
    /// Where a person finds it.
    pub url: Option<String>,
    /// How an answer gets there, in the connector's own words: JSON.
    pub address: String,
}

impl Tx<'_> {
    /// The thread of a workspace that stands for something at a service.
    pub fn relay_thread_by_key(
        &mut self,
        workspace: &str,
        link_row: i64,
        key: &str,
    ) -> Result<Option<RelayThreadRow>> {
        self.query_one(
            "SELECT r.thread, r.link, r.key, r.channel, r.url, r.address
             FROM relay_thread r JOIN thread t ON t.id = r.thread
             WHERE r.link = ?1 AND r.key = ?2 AND t.workspace = ?3",
            &[link_row.into(), key.into(), workspace.into()],
            relay_thread_row,
        )
    }

    /// What a thread stands for; `None` where it is one of the hub's own.
    pub fn relay_thread(&mut self, thread_row: i64) -> Result<Option<RelayThreadRow>> {
        self.query_one(
            "SELECT thread, link, key, channel, url, address FROM relay_thread WHERE thread = ?1",
            &[thread_row.into()],
            relay_thread_row,
        )
    }

    /// Lets a thread stand for something at a service. A thread of another workspace does not keep the
    /// thing from it.
    pub fn insert_relay_thread(&mut self, new: &RelayThreadRow) -> Result<()> {
        self.execute(
            "DELETE FROM relay_thread WHERE link = ?1 AND key = ?2 AND NOT EXISTS
                 (SELECT 1 FROM thread o JOIN thread n ON n.workspace = o.workspace
                  WHERE o.id = relay_thread.thread AND n.id = ?3)",
            &[new.link_row.into(), new.key.as_str().into(), new.thread_row.into()],
        )?;
        self.execute(
            "INSERT INTO relay_thread (thread, link, key, channel, url, address)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[
                new.thread_row.into(),
                new.link_row.into(),
                new.key.as_str().into(),
                new.channel.as_str().into(),
                new.url.as_deref().into(),
                new.address.as_str().into(),
            ],
        )?;
        Ok(())
    }

    /// Answers go elsewhere from now on.
    pub fn set_relay_address(
        &mut self,
        thread_row: i64,
        url: Option<&str>,
        address: &str,
    ) -> Result<()> {
        self.execute(
            "UPDATE relay_thread SET url = ?2, address = ?3 WHERE thread = ?1",
            &[thread_row.into(), url.into(), address.into()],
        )?;
        Ok(())
    }

    /// The thread of a row, if it is this workspace's; nobody else may change it until the commit.
    pub fn lock_thread_by_row(&mut self, workspace: &str, row: i64) -> Result<Option<ThreadRow>> {
        self.query_one(
            "SELECT id, uid, workspace, title, type, status, created_by, created_ms, updated_ms,
                    head_seq, agent_turns, last_speaker, paused_ms, blocked_by
             FROM thread WHERE id = ?1 AND workspace = ?2 AND origin IS NULL /*lock*/",
            &[row.into(), workspace.into()],
            crate::threads::thread_row,
        )
    }

    /// The row of the thread that a key was stitched to.
    pub fn stitched_thread(&mut self, workspace: &str, key: &[u8]) -> Result<Option<i64>> {
        self.query_one(
            "SELECT thread FROM relay_stitch WHERE workspace = ?1 AND key = ?2",
            &[workspace.into(), key.into()],
            |row| row.int(0),
        )
    }

    /// Stitches a key to a thread; the first one holds.
    pub fn stitch_thread(&mut self, workspace: &str, key: &[u8], thread_row: i64) -> Result<()> {
        self.execute(
            "INSERT INTO relay_stitch (workspace, key, thread) VALUES (?1, ?2, ?3)
             ON CONFLICT (workspace, key) DO NOTHING",
            &[workspace.into(), key.into(), thread_row.into()],
        )?;
        Ok(())
    }

    /// The row of the thread in which there was work of a task. What still stands behind other work is
    /// not looked at: it belongs to that one's task, or its task was stitched to the thread.
    pub fn thread_of_task(&mut self, workspace: &str, task: TaskId) -> Result<Option<i64>> {
        self.query_one(
            "SELECT thread FROM work WHERE task = ?2 AND state <> 5 AND workspace = ?1
             ORDER BY id LIMIT 1",
            &[workspace.into(), task.as_bytes().into()],
            |row| row.int(0),
        )
    }
}

fn relay_thread_row(row: &Row<'_>) -> Result<RelayThreadRow> {
    Ok(RelayThreadRow {
        thread_row: row.int(0)?,
        link_row: row.int(1)?,
        key: row.text(2)?,
        channel: row.text(3)?,
        url: row.opt_text(4)?,
        address: row.text(5)?,
    })
}
