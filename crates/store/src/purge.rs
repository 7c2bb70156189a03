//! Deleting what a link held: messages in portions, then their chats, then the link.
//!
//! For each message a change stays that names nothing but its number, so that the index of chats,
//! which follows the changes, forgets it too.

use protocol::Timestamp;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;

/// Where a message stands that was purged and keeps its number.
const NO_THREAD: i64 = 0;

impl Tx<'_> {
    /// Deletes the oldest messages of a link, as they arrived; answers how many it deleted.
    pub fn purge_messages(&mut self, link_row: i64, at: Timestamp, limit: usize) -> Result<u64> {
        let first = self.query_one(
            "SELECT c.thread FROM chat c WHERE c.link = ?1 AND EXISTS
                 (SELECT 1 FROM message m WHERE m.thread = c.thread)
             ORDER BY c.thread LIMIT 1",
            &[link_row.into()],
            |row| row.int(0),
        )?;
        let Some(thread) = first else { return Ok(0) };
        let seqs = self.query(
            "SELECT seq FROM message WHERE thread = ?1 ORDER BY seq LIMIT ?2",
            &[thread.into(), limit_param(limit)],
            |row| row.int(0),
        )?;
        let (Some(from), Some(upto)) = (seqs.first(), seqs.last()) else { return Ok(0) };
        // From both sides: below stand the changes that earlier portions have left.
        let portion = [thread.into(), (*from).into(), (*upto).into()];
        // A purge that is cut off here leaves holes: nothing of this chat is claimed to be whole.
        self.execute("DELETE FROM chat_held WHERE thread = ?1", &[thread.into()])?;
        self.execute(
            "UPDATE message_change SET body = NULL, metadata = NULL, by_alias = NULL
             WHERE thread = ?1 AND seq BETWEEN ?2 AND ?3",
            &portion,
        )?;
        self.execute(
            "INSERT INTO message_change (thread, seq, message, kind, at_ms)
             SELECT thread, seq, id, 1, CAST(?4 AS BIGINT) FROM message
             WHERE thread = ?1 AND seq BETWEEN ?2 AND ?3",
            &[thread.into(), (*from).into(), (*upto).into(), at.as_ms().into()],
        )?;
        self.execute(
            "DELETE FROM message_expiry WHERE thread = ?1 AND seq BETWEEN ?2 AND ?3",
            &portion,
        )?;
        let kept = self.keep_newest_number(thread, *upto, at)?;
        let deleted = self
            .execute("DELETE FROM message WHERE thread = ?1 AND seq BETWEEN ?2 AND ?3", &portion)?;
        Ok(kept + deleted)
    }

    /// Empties the newest message of all, if it is among these, and takes it out of its thread. SQLite
    /// would give the number of a last row that is gone to the next, and the views would pass over it.
    fn keep_newest_number(&mut self, thread: i64, upto: i64, at: Timestamp) -> Result<u64> {
        let newest = self.newest_message_row()?;
        let is_among_them = self.query_one(
            "SELECT 1 FROM message WHERE id = ?1 AND thread = ?2 AND seq <= ?3",
            &[newest.into(), thread.into(), upto.into()],
            |_| Ok(()),
        )?;
        if is_among_them.is_none() {
            return Ok(0);
        }
        self.execute("DELETE FROM message WHERE thread = ?1", &[NO_THREAD.into()])?;
        self.execute(
            "UPDATE message SET thread = ?2, seq = 0, created_ms = ?3, sender = '', session = '',
                 body = '', metadata = NULL, reply_seq = NULL, reply_ms = NULL, remote_id = ''
             WHERE id = ?1",
            &[newest.into(), NO_THREAD.into(), at.as_ms().into()],
        )
    }

    /// Deletes chats of a link that hold no message any more, with what was proposed for them; answers
    /// how many chats it deleted.
    pub fn purge_chats(&mut self, link_row: i64, limit: usize) -> Result<u64> {
        let threads = self.query(
            "SELECT thread FROM chat WHERE link = ?1 ORDER BY thread LIMIT ?2",
            &[link_row.into(), limit_param(limit)],
            |row| row.int(0),
        )?;
        for thread in &threads {
            self.touch_members(*thread);
            for statement in [
                "DELETE FROM chat_held WHERE thread = ?1",
                "DELETE FROM chat_gap WHERE thread = ?1",
                "DELETE FROM chat_former_id WHERE thread = ?1",
                "DELETE FROM chat_speaker WHERE thread = ?1",
                "DELETE FROM early_change WHERE thread = ?1",
                "DELETE FROM session_layer WHERE thread = ?1",
                "DELETE FROM proposal_step WHERE proposal IN
                     (SELECT p.id FROM proposal p WHERE p.thread = ?1)",
                "DELETE FROM proposal WHERE thread = ?1",
                "DELETE FROM chat WHERE thread = ?1",
                "DELETE FROM thread WHERE id = ?1",
            ] {
                self.execute(statement, &[(*thread).into()])?;
            }
        }
        Ok(u64::try_from(threads.len()).unwrap_or(u64::MAX))
    }

    /// Forgets the ids that a link gave to people, and people who have no id left at any source.
    pub fn purge_people(&mut self, workspace: &str, link_name: &str) -> Result<()> {
        // The names of links hold neither of the signs that this pattern knows.
        let pattern = format!("{link_name}/id/%");
        self.execute(
            "DELETE FROM person_alias WHERE workspace = ?1 AND alias LIKE ?2",
            &[workspace.into(), pattern.as_str().into()],
        )?;
        // Numbers and handles alone are no reason to remember anybody.
        self.execute(
            "DELETE FROM person_alias WHERE workspace = ?1 AND person IN
                 (SELECT p.id FROM person p WHERE p.workspace = ?1 AND NOT EXISTS
                     (SELECT 1 FROM person_alias a
                      WHERE a.person = p.id AND a.workspace = ?1 AND a.alias LIKE '%/id/%'))",
            &[workspace.into()],
        )?;
        self.execute(
            "DELETE FROM person WHERE workspace = ?1 AND NOT EXISTS
                 (SELECT 1 FROM person_alias a WHERE a.person = person.id)",
            &[workspace.into()],
        )?;
        Ok(())
    }

    /// Forgets how far files were imported into a source, so that they can be imported again.
    pub fn forget_imports(&mut self, workspace: &str, link_name: &str) -> Result<()> {
        let pattern = format!("{link_name}:%");
        self.execute(
            "DELETE FROM import_progress WHERE workspace = ?1 AND fingerprint LIKE ?2",
            &[workspace.into(), pattern.as_str().into()],
        )?;
        Ok(())
    }

    /// Forgets who runs a link.
    pub fn purge_lease(&mut self, link_row: i64) -> Result<()> {
        self.execute("DELETE FROM link_lease WHERE link = ?1", &[link_row.into()])?;
        Ok(())
    }
}
