//! Threads and who may enter them.

use protocol::{ThreadId, ThreadStatus, ThreadType, Timestamp};

use crate::error::{Result, StoreError};
use crate::tx::Tx;
use crate::value::{Param, Row};

/// A thread as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its row number.
    pub row: i64,
    /// Its id.
    pub id: ThreadId,
    /// Its workspace.
    pub workspace: String,
    /// What it is about.
    pub title: String,
    /// What sort of conversation it is.
    pub thread_type: ThreadType,
    /// Where it stands.
    pub status: ThreadStatus,
    /// Who opened it.
    pub created_by: String,
    /// When.
    pub created: Timestamp,
    /// When anything last happened in it.
    pub updated: Timestamp,
    /// The number of its newest message.
    pub head_seq: i64,
    /// Changes of speaker between agents since a human last spoke.
    pub agent_turns: i64,
    /// Who spoke last.
    pub last_speaker: Option<String>,
    /// Since when the loop guard holds it.
    pub paused: Option<Timestamp>,
    /// While it is blocked: whose block that is. Nobody's alone where several blocked it, or where it
    /// was blocked before this was written down.
    pub blocked_by: Option<String>,
}

/// A thread, and whether one agent may enter it by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadAccess {
    /// The thread.
    pub thread: ThreadRow,
    /// Whether the agent takes part or opened it.
    pub is_member: bool,
}

/// A thread to be opened.
#[derive(Clone, Copy, Debug)]
pub struct NewThread<'a> {
    /// Its id.
    pub id: ThreadId,
    /// Its workspace.
    pub workspace: &'a str,
    /// What it is about.
    pub title: &'a str,
    /// What sort of conversation it is.
    pub thread_type: ThreadType,
    /// Who opens it.
    pub created_by: &'a str,
    /// Who takes part.
    pub participants: &'a [String],
    /// When.
    pub at: Timestamp,
}

/// Which threads to list. Empty text and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct ThreadFilter {
    /// The workspace.
    pub workspace: String,
    /// Only threads this agent may enter; empty for all.
    pub member: String,
    /// Only threads this agent takes part in; empty for all.
    pub participant: String,
    /// Only threads that stand so.
    pub status: Option<ThreadStatus>,
    /// Only threads of this sort.
    pub thread_type: Option<ThreadType>,
    /// Only threads whose title holds this text, whatever its case.
    pub title_part: String,
    /// Only threads after this place of an earlier page.
    pub before: Option<(Timestamp, i64)>,
    /// Whose cursor to join.
    pub reader: String,
    /// Only threads with a message of somebody else after that cursor.
    pub unread_only: bool,
    /// How many.
    pub limit: usize,
}

/// A thread of a list, with how far its reader has read.
#[derive(Clone, Debug)]
pub struct ThreadListed {
    /// The thread.
    pub thread: ThreadRow,
    /// The reader's cursor, 0 when there is none.
    pub last_read_seq: i64,
}

impl Tx<'_> {
    /// Opens a thread and answers its row number.
    pub fn insert_thread(&mut self, new: &NewThread<'_>) -> Result<i64> {
        let at = new.at.as_ms();
        let row = self.insert(
            "INSERT INTO thread (uid, workspace, title, type, status, created_by, created_ms,
                 updated_ms, head_seq, agent_turns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 0, 0)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                new.title.into(),
                new.thread_type.code().into(),
                ThreadStatus::Active.code().into(),
                new.created_by.into(),
                at.into(),
            ],
        )?;
        for agent in new.participants {
            self.add_participant(row, agent, new.at)?;
        }
        self.execute(
            "INSERT INTO participant (thread, agent, listed, added_ms) VALUES (?1, ?2, 0, ?3)
             ON CONFLICT (thread, agent) DO NOTHING",
            &[row.into(), new.created_by.into(), at.into()],
        )?;
        Ok(row)
    }

    /// The thread, and whether the agent may enter it.
    pub fn thread(&mut self, id: ThreadId, agent: &str) -> Result<Option<ThreadAccess>> {
        self.query_one(
            "SELECT t.id, t.uid, t.workspace, t.title, t.type, t.status, t.created_by, t.created_ms,
                    t.updated_ms, t.head_seq, t.agent_turns, t.last_speaker, t.paused_ms,
                    t.blocked_by, EXISTS (SELECT 1 FROM participant p WHERE p.thread = t.id AND p.agent = ?2)
             FROM thread t WHERE t.uid = ?1 AND t.origin IS NULL",
            &[id.as_bytes().into(), agent.into()],
            thread_access,
        )
    }

    /// The same, and nobody else may change the thread until the commit.
    pub fn lock_thread(&mut self, id: ThreadId, agent: &str) -> Result<Option<ThreadAccess>> {
        if let Some(access) = self.known_threads().and_then(|known| known.enter(id, agent)) {
            return Ok(Some(access));
        }
        let mut access = self.query_one(
            "SELECT t.id, t.uid, t.workspace, t.title, t.type, t.status, t.created_by, t.created_ms,
                    t.updated_ms, t.head_seq, t.agent_turns, t.last_speaker, t.paused_ms,
                    t.blocked_by, EXISTS (SELECT 1 FROM participant p WHERE p.thread = t.id AND p.agent = ?2)
             FROM thread t WHERE t.uid = ?1 AND t.origin IS NULL /*lock*/",
            &[id.as_bytes().into(), agent.into()],
            thread_access,
        )?;
        // PostgreSQL answers who may enter as it was before the lock was waited for.
        if let Some(access) = access.as_mut().filter(|_| !self.writes_alone()) {
            access.is_member = self.is_member(access.thread.row, agent)?;
        }
        if let (Some(access), Some(mut known)) = (&access, self.known_threads()) {
            known.learn(access, agent);
        }
        Ok(access)
    }

    /// The thread of a row, and whether the agent may enter it.
    pub fn thread_by_row(&mut self, row: i64, agent: &str) -> Result<Option<ThreadAccess>> {
        self.query_one(
            "SELECT t.id, t.uid, t.workspace, t.title, t.type, t.status, t.created_by, t.created_ms,
                    t.updated_ms, t.head_seq, t.agent_turns, t.last_speaker, t.paused_ms,
                    t.blocked_by, EXISTS (SELECT 1 FROM participant p WHERE p.thread = t.id AND p.agent = ?2)
             FROM thread t WHERE t.id = ?1 AND t.origin IS NULL",
            &[row.into(), agent.into()],
            thread_access,
        )
    }

    /// The workspace of a thread's row.
    pub fn thread_workspace(&mut self, row: i64) -> Result<Option<String>> {
        self.query_one("SELECT workspace FROM thread WHERE id = ?1", &[row.into()], |row| {
            row.text(0)
        })
    }

    /// Writes back what a message or a status change moved.
    pub fn update_thread(&mut self, thread: &ThreadRow) -> Result<()> {
        self.touch(thread.row);
        self.execute(
            "UPDATE thread SET status = ?2, updated_ms = ?3, head_seq = ?4, agent_turns = ?5,
                 last_speaker = ?6, paused_ms = ?7, blocked_by = ?8
             WHERE id = ?1",
            &[
                thread.row.into(),
                thread.status.code().into(),
                thread.updated.as_ms().into(),
                thread.head_seq.into(),
                thread.agent_turns.into(),
                thread.last_speaker.as_deref().into(),
                thread.paused.map(Timestamp::as_ms).into(),
                thread.blocked_by.as_deref().into(),
            ],
        )?;
        if let Some(mut known) = self.known_threads() {
            known.update(thread);
        }
        Ok(())
    }

    /// Who takes part, in the order of their names.
    pub fn participants(&mut self, thread_row: i64) -> Result<Vec<String>> {
        self.query(
            "SELECT agent FROM participant WHERE thread = ?1 AND listed = 1 ORDER BY agent",
            &[thread_row.into()],
            |row| row.text(0),
        )
    }

    /// Whether an agent may enter by itself.
    fn is_member(&mut self, thread_row: i64, agent: &str) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM participant WHERE thread = ?1 AND agent = ?2",
            &[thread_row.into(), agent.into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// Everyone who may enter by themselves: those who take part, and who opened it.
    pub fn members(&mut self, thread_row: i64) -> Result<Vec<String>> {
        self.query("SELECT agent FROM participant WHERE thread = ?1", &[thread_row.into()], |row| {
            row.text(0)
        })
    }

    /// Lets an agent take part.
    pub fn add_participant(&mut self, thread_row: i64, agent: &str, at: Timestamp) -> Result<()> {
        self.touch_members(thread_row);
        self.execute(
            "INSERT INTO participant (thread, agent, listed, added_ms) VALUES (?1, ?2, 1, ?3)
             ON CONFLICT (thread, agent) DO UPDATE SET listed = 1",
            &[thread_row.into(), agent.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// Ends an agent's part; whoever opened the thread may still enter it.
    pub fn remove_participant(&mut self, thread_row: i64, agent: &str) -> Result<()> {
        self.touch_members(thread_row);
        self.execute(
            "UPDATE participant SET listed = 0 WHERE thread = ?1 AND agent = ?2
               AND agent = (SELECT created_by FROM thread WHERE id = ?1)",
            &[thread_row.into(), agent.into()],
        )?;
        self.execute(
            "DELETE FROM participant WHERE thread = ?1 AND agent = ?2
               AND agent <> (SELECT created_by FROM thread WHERE id = ?1)",
            &[thread_row.into(), agent.into()],
        )?;
        Ok(())
    }

    /// The rows of the threads an agent may enter, newest first.
    pub fn thread_rows_of(
        &mut self,
        workspace: &str,
        agent: &str,
        limit: usize,
    ) -> Result<Vec<i64>> {
        self.query(
            "SELECT p.thread FROM participant p JOIN thread t ON t.id = p.thread
             WHERE p.agent = ?2 AND t.workspace = ?1 ORDER BY p.thread DESC LIMIT ?3",
            &[workspace.into(), agent.into(), limit_param(limit)],
            |row| row.int(0),
        )
    }

    /// The threads an agent may enter that hold messages of others after its cursor, the longest
    /// untouched first.
    pub fn unread_threads_of(
        &mut self,
        workspace: &str,
        agent: &str,
        limit: usize,
    ) -> Result<Vec<ThreadListed>> {
        self.query(
            "SELECT t.id, t.uid, t.workspace, t.title, t.type, t.status, t.created_by, t.created_ms,
                    t.updated_ms, t.head_seq, t.agent_turns, t.last_speaker, t.paused_ms,
                    t.blocked_by, COALESCE(c.last_read_seq, 0)
             FROM participant p
             JOIN thread t ON t.id = p.thread
             LEFT JOIN read_cursor c ON c.thread = t.id AND c.agent = ?2
             WHERE p.agent = ?2 AND t.workspace = ?1 AND EXISTS (SELECT 1 FROM message m
                   WHERE m.thread = t.id AND m.seq > COALESCE(c.last_read_seq, 0) AND m.sender <> ?2)
             ORDER BY t.updated_ms, t.id LIMIT ?3",
            &[workspace.into(), agent.into(), limit_param(limit)],
            |row| Ok(ThreadListed { thread: thread_row(row)?, last_read_seq: row.int(14)? }),
        )
    }

    /// A page of threads, the one where something happened last first.
    pub fn list_threads(&mut self, filter: &ThreadFilter) -> Result<Vec<ThreadListed>> {
        let (before_ms, before_row) =
            filter.before.map_or((i64::MAX, i64::MAX), |(updated, row)| (updated.as_ms(), row));
        let params: [Param<'_>; 11] = [
            filter.workspace.as_str().into(),
            filter.reader.as_str().into(),
            filter.member.as_str().into(),
            filter.participant.as_str().into(),
            filter.status.map_or(-1, ThreadStatus::code).into(),
            filter.thread_type.map_or(-1, ThreadType::code).into(),
            filter.title_part.as_str().into(),
            before_ms.into(),
            before_row.into(),
            filter.unread_only.into(),
            limit_param(filter.limit),
        ];
        self.query(
            "SELECT t.id, t.uid, t.workspace, t.title, t.type, t.status, t.created_by, t.created_ms,
                    t.updated_ms, t.head_seq, t.agent_turns, t.last_speaker, t.paused_ms,
                    t.blocked_by, COALESCE(c.last_read_seq, 0)
             FROM thread t
             LEFT JOIN read_cursor c ON c.thread = t.id AND c.agent = ?2
             WHERE t.workspace = ?1 AND t.origin IS NULL
               AND (?3 = '' OR t.id IN (SELECT p.thread FROM participant p WHERE p.agent = ?3))
               AND (?4 = '' OR t.id IN
                    (SELECT p.thread FROM participant p WHERE p.agent = ?4 AND p.listed = 1))
               AND (CAST(?5 AS BIGINT) < 0 OR t.status = ?5)
               AND (CAST(?6 AS BIGINT) < 0 OR t.type = ?6)
               AND (?7 = '' OR lower(t.title) LIKE '%' || lower(?7) || '%' ESCAPE '\\')
               AND (t.updated_ms < ?8 OR (t.updated_ms = ?8 AND t.id < ?9))
               AND (CAST(?10 AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM message m WHERE m.thread = t.id
                    AND m.seq > COALESCE(c.last_read_seq, 0) AND m.sender <> ?2))
             ORDER BY t.updated_ms DESC, t.id DESC
             LIMIT ?11",
            &params,
            |row| Ok(ThreadListed { thread: thread_row(row)?, last_read_seq: row.int(14)? }),
        )
    }
}

/// A page size as a parameter.
pub(crate) fn limit_param(limit: usize) -> Param<'static> {
    i64::try_from(limit).unwrap_or(i64::MAX).into()
}

fn thread_access(row: &Row<'_>) -> Result<ThreadAccess> {
    Ok(ThreadAccess { thread: thread_row(row)?, is_member: row.flag(14)? })
}

pub(crate) fn thread_row(row: &Row<'_>) -> Result<ThreadRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "thread" };
    Ok(ThreadRow {
        row: row.int(0)?,
        id: ThreadId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        title: row.text(3)?,
        thread_type: ThreadType::from_code(row.int(4)?).ok_or(CORRUPT)?,
        status: ThreadStatus::from_code(row.int(5)?).ok_or(CORRUPT)?,
        created_by: row.text(6)?,
        created: Timestamp::from_ms(row.int(7)?),
        updated: Timestamp::from_ms(row.int(8)?),
        head_seq: row.int(9)?,
        agent_turns: row.int(10)?,
        last_speaker: row.opt_text(11)?,
        paused: row.opt_int(12)?.map(Timestamp::from_ms),
        blocked_by: row.opt_text(13)?,
    })
}
