//! Work for agents. Of each thread only the first unfinished piece is ready or leased, the others are
//! behind it: whoever looks for work looks at the heads of threads alone, however long the queue is.
//!
//! Whatever adds or ends work locks its thread first, so that nobody is left behind a head that has just
//! ended.

use protocol::relay::WorkState;
use protocol::{TaskId, ThreadId, Timestamp, WorkId};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// A piece of work to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewWork<'a> {
    /// Its workspace.
    pub workspace: &'a str,
    /// The queue it stands in.
    pub queue: &'a str,
    /// The thread's row.
    pub thread_row: i64,
    /// The message it is about.
    pub seq: i64,
    /// The task it belongs to.
    pub task: TaskId,
    /// Its id.
    pub id: WorkId,
    /// When.
    pub at: Timestamp,
}

/// A piece of work as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRow {
    /// Its row number.
    pub row: i64,
    /// Its id.
    pub id: WorkId,
    /// Its workspace.
    pub workspace: String,
    /// The queue it stands in.
    pub queue: String,
    /// The thread's row.
    pub thread_row: i64,
    /// The thread.
    pub thread_id: ThreadId,
    /// The message it is about.
    pub seq: i64,
    /// The task it belongs to.
    pub task: TaskId,
    /// How far it has come.
    pub state: WorkState,
    /// How often it was given out.
    pub attempts: i64,
    /// Not before then.
    pub visible: Timestamp,
    /// Counts leases.
    pub fence: i64,
    /// Who has it, or had it last.
    pub holder: Option<String>,
    /// Until when nobody else gets it.
    pub lease: Option<Timestamp>,
    /// Why it was released, parked or given up.
    pub reason: Option<String>,
    /// What its completion said and was answered: JSON.
    pub outcome: Option<String>,
    /// When it was added.
    pub created: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// Which work to list. Empty text and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct WorkFilter {
    /// The workspace.
    pub workspace: String,
    /// Only work of this queue; empty for all.
    pub queue: String,
    /// Only work about this thread.
    pub thread_row: Option<i64>,
    /// Only work that has come so far.
    pub state: Option<WorkState>,
    /// Only work before this row of an earlier page.
    pub before: Option<i64>,
    /// How many.
    pub limit: usize,
}

/// How much stands in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// The workspace.
    pub workspace: String,
    /// The queue.
    pub queue: String,
    /// How far it has come.
    pub state: WorkState,
    /// How much of it.
    pub count: i64,
    /// When the oldest was added.
    pub oldest: Timestamp,
}

/// The columns of a piece of work, in the order in which [`work_row`] reads them.
macro_rules! select_work {
    ($rest:literal) => {
        concat!(
            "SELECT w.id, w.uid, w.workspace, w.queue, w.thread,
                    (SELECT t.uid FROM thread t WHERE t.id = w.thread), w.seq, w.task, w.state,
                    w.attempts, w.visible_ms, w.fence, w.holder, w.lease_ms, w.reason, w.outcome,
                    w.created_ms, w.ended_ms
             FROM work w ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Adds work to the end of its thread's: ready if nothing of the thread is unfinished, otherwise
    /// behind that.
    pub fn insert_work(&mut self, new: &NewWork<'_>) -> Result<()> {
        self.hold_thread(new.thread_row)?;
        self.execute(
            "INSERT INTO work (uid, workspace, queue, thread, seq, task, state, attempts, visible_ms,
                 fence, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6,
                 CASE WHEN EXISTS (SELECT 1 FROM work WHERE thread = ?4 AND (state < 2 OR state = 5))
                     THEN 5 ELSE 0 END,
                 0, ?7, 0, ?7)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                new.queue.into(),
                new.thread_row.into(),
                new.seq.into(),
                new.task.as_bytes().into(),
                new.at.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// Adds work that waits for a human from the first; it keeps nobody waiting.
    pub fn insert_parked_work(&mut self, new: &NewWork<'_>, reason: &str) -> Result<()> {
        self.execute(
            "INSERT INTO work (uid, workspace, queue, thread, seq, task, state, attempts, visible_ms,
                 fence, reason, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 4, 0, ?7, 0, ?8, ?7)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                new.queue.into(),
                new.thread_row.into(),
                new.seq.into(),
                new.task.as_bytes().into(),
                new.at.as_ms().into(),
                reason.into(),
            ],
        )?;
        Ok(())
    }

    /// The task of the newest work of a thread that has not ended: what follows belongs to it.
    pub fn open_task(&mut self, thread_row: i64) -> Result<Option<TaskId>> {
        // Two questions, because each has an index of its own.
        let newest = [
            "SELECT id, task FROM work WHERE thread = ?1 AND (state < 2 OR state = 5)
             ORDER BY id DESC LIMIT 1",
            "SELECT id, task FROM work WHERE thread = ?1 AND state = 4 ORDER BY id DESC LIMIT 1",
        ];
        let mut found = None;
        for sql in newest {
            let one = self.query_one(sql, &[thread_row.into()], |row| {
                let task = TaskId::from_bytes(&row.blob(1)?);
                Ok((row.int(0)?, task.ok_or(StoreError::Corrupt { what: "work" })?))
            })?;
            found = found.max(one);
        }
        Ok(found.map(|(_, task)| task))
    }

    /// Gives out work of a queue that is ready: the longest ready first, at most one piece of a thread.
    pub fn lease_work(
        &mut self,
        (workspace, queue): (&str, &str),
        holder: &str,
        (now, until): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<WorkRow>> {
        let mut leased = self.query(
            select_work!(
                "WHERE w.workspace = ?1 AND w.queue = ?2 AND w.state = 0 AND w.visible_ms <= ?3
                 ORDER BY w.visible_ms, w.id LIMIT ?4 /*lock free*/"
            ),
            &[workspace.into(), queue.into(), now.as_ms().into(), limit_param(limit)],
            work_row,
        )?;
        for work in &mut leased {
            work.state = WorkState::Leased;
            work.attempts += 1;
            work.fence += 1;
            work.holder = Some(holder.to_owned());
            work.lease = Some(until);
            self.update_work(work)?;
        }
        Ok(leased)
    }

    /// A piece of work by its id.
    pub fn work(&mut self, id: WorkId) -> Result<Option<WorkRow>> {
        self.query_one(select_work!("WHERE w.uid = ?1"), &[id.as_bytes().into()], work_row)
    }

    /// A piece of work by its row.
    pub fn work_by_row(&mut self, row: i64) -> Result<Option<WorkRow>> {
        self.query_one(select_work!("WHERE w.id = ?1"), &[row.into()], work_row)
    }

    /// The same by its id; nobody else may change it, or add to its thread, until the commit.
    pub fn lock_work(&mut self, id: WorkId) -> Result<Option<WorkRow>> {
        let thread_row = self.query_one(
            "SELECT thread FROM work WHERE uid = ?1",
            &[id.as_bytes().into()],
            |row| row.int(0),
        )?;
        let Some(thread_row) = thread_row else { return Ok(None) };
        self.hold_thread(thread_row)?;
        self.query_one(select_work!("WHERE w.uid = ?1 /*lock*/"), &[id.as_bytes().into()], work_row)
    }

    /// Writes back what can change of a piece of work that stays what it is for its thread: a lease is
    /// made longer, or work is released to be given out again.
    pub fn update_work(&mut self, work: &WorkRow) -> Result<()> {
        self.execute(
            "UPDATE work SET state = ?2, attempts = ?3, visible_ms = ?4, fence = ?5, holder = ?6,
                 lease_ms = ?7, reason = ?8, outcome = ?9, ended_ms = ?10, queue = ?11
             WHERE id = ?1",
            &[
                work.row.into(),
                work.state.code().into(),
                work.attempts.into(),
                work.visible.as_ms().into(),
                work.fence.into(),
                work.holder.as_deref().into(),
                work.lease.map(Timestamp::as_ms).into(),
                work.reason.as_deref().into(),
                work.outcome.as_deref().into(),
                work.ended.map(Timestamp::as_ms).into(),
                work.queue.as_str().into(),
            ],
        )?;
        Ok(())
    }

    /// Writes back work that keeps its thread waiting no longer: it is done, dead or parked. If it did, the
    /// next of its thread is ready from now on. The caller has locked it with [`Tx::lock_work`]. Answers the
    /// queue of that next one.
    pub fn end_work(&mut self, work: &WorkRow) -> Result<Option<String>> {
        let before =
            self.query_one("SELECT state FROM work WHERE id = ?1", &[work.row.into()], |row| {
                row.int(0)
            })?;
        self.update_work(work)?;
        let was_head = matches!(
            before.and_then(WorkState::from_code),
            Some(WorkState::Ready | WorkState::Leased)
        );
        if !was_head {
            return Ok(None);
        }
        let first = self.query_one(
            "SELECT id, queue FROM work WHERE thread = ?1 AND (state < 2 OR state = 5)
             ORDER BY id LIMIT 1",
            &[work.thread_row.into()],
            |row| Ok((row.int(0)?, row.text(1)?)),
        )?;
        let Some((row, queue)) = first else { return Ok(None) };
        self.execute("UPDATE work SET state = 0 WHERE id = ?1", &[row.into()])?;
        Ok(Some(queue))
    }

    /// Work that was parked, done or dead goes on: it is ready, or behind what its thread has begun
    /// meanwhile. The caller has locked it with [`Tx::lock_work`].
    pub fn reopen_work(&mut self, work: &mut WorkRow, at: Timestamp) -> Result<()> {
        work.state = self.place_in_thread(work.thread_row)?;
        work.attempts = 0;
        work.visible = at;
        (work.holder, work.lease, work.ended, work.outcome) = (None, None, None, None);
        self.update_work(work)
    }

    /// Work whose lease has ended, without locking it: the longest forgotten first.
    pub fn lapsed_work(&mut self, now: Timestamp, limit: usize) -> Result<Vec<WorkId>> {
        self.query(
            "SELECT uid FROM work WHERE state = 1 AND lease_ms <= ?1 ORDER BY lease_ms LIMIT ?2",
            &[now.as_ms().into(), limit_param(limit)],
            |row| WorkId::from_bytes(&row.blob(0)?).ok_or(StoreError::Corrupt { what: "work" }),
        )
    }

    /// When the next lease of any work ends.
    pub fn next_work_lapse(&mut self) -> Result<Option<Timestamp>> {
        let next =
            self.query_one("SELECT min(lease_ms) FROM work WHERE state = 1", &[], |row| {
                row.opt_int(0)
            })?;
        Ok(next.flatten().map(Timestamp::from_ms))
    }

    /// When the next work of a queue can be given out; in the past when it can be now.
    pub fn next_work_visible(&mut self, workspace: &str, queue: &str) -> Result<Option<Timestamp>> {
        let next = self.query_one(
            "SELECT visible_ms FROM work WHERE workspace = ?1 AND queue = ?2 AND state = 0
             ORDER BY visible_ms, id LIMIT 1",
            &[workspace.into(), queue.into()],
            |row| row.int(0),
        )?;
        Ok(next.map(Timestamp::from_ms))
    }

    /// Lets an agent enter a thread without being named among those who take part.
    pub fn let_in(&mut self, thread_row: i64, agent: &str, at: Timestamp) -> Result<()> {
        self.touch_members(thread_row);
        self.execute(
            "INSERT INTO participant (thread, agent, listed, added_ms) VALUES (?1, ?2, 0, ?3)
             ON CONFLICT (thread, agent) DO NOTHING",
            &[thread_row.into(), agent.into(), at.as_ms().into()],
        )?;
        Ok(())
    }

    /// A page of work, the newest first.
    pub fn list_work(&mut self, filter: &WorkFilter) -> Result<Vec<WorkRow>> {
        // What is done is most of it, and soon found among everything; the rest has an index of its own.
        let sql = match filter.state {
            None | Some(WorkState::Done) => select_work!(
                "WHERE w.workspace = ?1 AND (?2 = '' OR w.queue = ?2)
                   AND (CAST(?3 AS BIGINT) < 0 OR w.thread = ?3)
                   AND (CAST(?4 AS BIGINT) < 0 OR w.state = ?4) AND w.id < ?5
                 ORDER BY w.id DESC LIMIT ?6"
            ),
            Some(_) => select_work!(
                "WHERE w.workspace = ?1 AND (?2 = '' OR w.queue = ?2)
                   AND (CAST(?3 AS BIGINT) < 0 OR w.thread = ?3)
                   AND w.state <> 2 AND w.state = ?4 AND w.id < ?5
                 ORDER BY w.id DESC LIMIT ?6"
            ),
        };
        self.query(
            sql,
            &[
                filter.workspace.as_str().into(),
                filter.queue.as_str().into(),
                filter.thread_row.unwrap_or(-1).into(),
                filter.state.map_or(-1, WorkState::code).into(),
                filter.before.unwrap_or(i64::MAX).into(),
                limit_param(filter.limit),
            ],
            work_row,
        )
    }

    /// How much unfinished and dead work stands in each queue.
    pub fn work_depths(&mut self) -> Result<Vec<QueueDepth>> {
        self.query(
            "SELECT workspace, queue, state, count(*), min(created_ms) FROM work
             WHERE state <> 2 GROUP BY workspace, queue, state
             ORDER BY workspace, queue, state",
            &[],
            |row| {
                Ok(QueueDepth {
                    workspace: row.text(0)?,
                    queue: row.text(1)?,
                    state: WorkState::from_code(row.int(2)?)
                        .ok_or(StoreError::Corrupt { what: "work" })?,
                    count: row.int(3)?,
                    oldest: Timestamp::from_ms(row.int(4)?),
                })
            },
        )
    }

    /// Nobody else adds work to a thread, or ends any, until the commit.
    fn hold_thread(&mut self, thread_row: i64) -> Result<()> {
        // With SQLite one transaction writes at a time.
        if self.writes_alone() {
            return Ok(());
        }
        self.query_one(
            "SELECT id FROM thread WHERE id = ?1 /*lock*/",
            &[thread_row.into()],
            |_| Ok(()),
        )?;
        Ok(())
    }

    /// What work becomes that is added to a thread.
    fn place_in_thread(&mut self, thread_row: i64) -> Result<WorkState> {
        let open = self.query_one(
            "SELECT id FROM work WHERE thread = ?1 AND (state < 2 OR state = 5) LIMIT 1",
            &[thread_row.into()],
            |_| Ok(()),
        )?;
        Ok(if open.is_some() { WorkState::Behind } else { WorkState::Ready })
    }
}

fn work_row(row: &Row<'_>) -> Result<WorkRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "work" };
    let at = |index| Ok::<_, StoreError>(row.opt_int(index)?.map(Timestamp::from_ms));
    Ok(WorkRow {
        row: row.int(0)?,
        id: WorkId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        queue: row.text(3)?,
        thread_row: row.int(4)?,
        thread_id: ThreadId::from_bytes(&row.blob(5)?).ok_or(CORRUPT)?,
        seq: row.int(6)?,
        task: TaskId::from_bytes(&row.blob(7)?).ok_or(CORRUPT)?,
        state: WorkState::from_code(row.int(8)?).ok_or(CORRUPT)?,
        attempts: row.int(9)?,
        visible: Timestamp::from_ms(row.int(10)?),
        fence: row.int(11)?,
        holder: row.opt_text(12)?,
        lease: at(13)?,
        reason: row.opt_text(14)?,
        outcome: row.opt_text(15)?,
        created: Timestamp::from_ms(row.int(16)?),
        ended: at(17)?,
    })
}
