//! Calls of tools that messages asked for. Nested calls are flat rows that name the call they came from.

use protocol::relay::ToolCallState;
use protocol::{TaskId, ThreadId, Timestamp, ToolCallId};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::{Param, Row};

/// A call of a tool as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCallRow {
    /// Its row number; 0 before it is stored.
    pub row: i64,
    /// Its id.
    pub id: ToolCallId,
    /// Its workspace.
    pub workspace: String,
    /// The thread's row.
    pub thread_row: i64,
    /// The thread.
    pub thread_id: ThreadId,
    /// The message that asked.
    pub seq: i64,
    /// The message that answers.
    pub answer_seq: Option<i64>,
    /// What the asker calls it.
    pub key: String,
    /// The task it is part of.
    pub task: TaskId,
    /// The row of the call it came from.
    pub parent_row: Option<i64>,
    /// That call's id.
    pub parent_id: Option<ToolCallId>,
    /// How deep it is nested; 1 for a call that came from no other.
    pub depth: i64,
    /// Whose rights it runs with: JSON of the verified caller.
    pub caller: String,
    /// The tool that was asked for.
    pub name: String,
    /// What it is given: JSON.
    pub args: String,
    /// The tool that runs now, which a failure may have changed.
    pub tool: String,
    /// The way that was last taken after a failure.
    pub way: Option<String>,
    /// Where in the list of ways the next one stands.
    pub next_way: i64,
    /// How far it has come.
    pub state: ToolCallState,
    /// How often it was begun.
    pub attempts: i64,
    /// How many ways were taken after failures.
    pub hops: i64,
    /// Not before then.
    pub due: Timestamp,
    /// The hub that runs it, or ran it last.
    pub holder: Option<String>,
    /// Until when nobody else runs it.
    pub lease: Option<Timestamp>,
    /// What it answered: JSON.
    pub result: Option<String>,
    /// When it was asked for.
    pub created: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// The columns of a call, in the order in which [`call_row`] reads them.
macro_rules! select_calls {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, c.uid, c.workspace, c.thread,
                    (SELECT t.uid FROM thread t WHERE t.id = c.thread), c.seq, c.answer_seq,
                    c.call_key, c.task, c.parent,
                    (SELECT p.uid FROM tool_call p WHERE p.id = c.parent), c.depth, c.caller,
                    c.name, c.args, c.tool, c.way, c.next_way, c.state, c.attempts, c.hops,
                    c.due_ms, c.holder, c.lease_ms, c.result, c.created_ms, c.ended_ms
             FROM tool_call c ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Stores a new call; `false` when the thread has one of this key already.
    pub fn insert_tool_call(&mut self, call: &ToolCallRow) -> Result<bool> {
        let inserted = self.execute(
            "INSERT INTO tool_call (uid, workspace, thread, seq, call_key, task, parent, depth, caller,
                 name, args, tool, next_way, state, attempts, hops, due_ms, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13, 0, ?14, ?15, ?16)
             ON CONFLICT (thread, call_key) DO NOTHING",
            &[
                call.id.as_bytes().into(),
                call.workspace.as_str().into(),
                call.thread_row.into(),
                call.seq.into(),
                call.key.as_str().into(),
                call.task.as_bytes().into(),
                call.parent_row.into(),
                call.depth.into(),
                call.caller.as_str().into(),
                call.name.as_str().into(),
                call.args.as_str().into(),
                call.tool.as_str().into(),
                call.state.code().into(),
                call.hops.into(),
                call.due.as_ms().into(),
                call.created.as_ms().into(),
            ],
        )?;
        Ok(inserted > 0)
    }

    /// Writes back what can change of a call.
    pub fn update_tool_call(&mut self, call: &ToolCallRow) -> Result<()> {
        let ms = |at: Option<Timestamp>| Param::from(at.map(Timestamp::as_ms));
        self.execute(
            "UPDATE tool_call SET answer_seq = ?2, tool = ?3, way = ?4, next_way = ?5, state = ?6,
                 attempts = ?7, hops = ?8, due_ms = ?9, holder = ?10, lease_ms = ?11, result = ?12,
                 ended_ms = ?13
             WHERE id = ?1",
            &[
                call.row.into(),
                call.answer_seq.into(),
                call.tool.as_str().into(),
                call.way.as_deref().into(),
                call.next_way.into(),
                call.state.code().into(),
                call.attempts.into(),
                call.hops.into(),
                call.due.as_ms().into(),
                call.holder.as_deref().into(),
                ms(call.lease),
                call.result.as_deref().into(),
                ms(call.ended),
            ],
        )?;
        Ok(())
    }

    /// A call by its id.
    pub fn tool_call(&mut self, id: ToolCallId) -> Result<Option<ToolCallRow>> {
        let sql = select_calls!("WHERE c.uid = ?1");
        self.query_one(sql, &[id.as_bytes().into()], call_row)
    }

    /// The same, and nobody else may change it until the commit.
    pub fn lock_tool_call(&mut self, id: ToolCallId) -> Result<Option<ToolCallRow>> {
        let sql = select_calls!("WHERE c.uid = ?1 /*lock*/");
        self.query_one(sql, &[id.as_bytes().into()], call_row)
    }

    /// The call that a thread's asker calls so.
    pub fn tool_call_by_key(&mut self, thread_row: i64, key: &str) -> Result<Option<ToolCallRow>> {
        // PostgreSQL takes no such sign, not even in a question.
        if key.contains('\0') {
            return Ok(None);
        }
        let sql = select_calls!("WHERE c.thread = ?1 AND c.call_key = ?2");
        self.query_one(sql, &[thread_row.into(), key.into()], call_row)
    }

    /// The call that a message of a thread asked for.
    pub fn tool_call_at(&mut self, thread_row: i64, seq: i64) -> Result<Option<ToolCallRow>> {
        let sql = select_calls!("WHERE c.thread = ?1 AND c.seq = ?2");
        self.query_one(sql, &[thread_row.into(), seq.into()], call_row)
    }

    /// Calls that may be run now: those that are due, and those whose runner has gone. Nobody else may
    /// change them until the commit.
    pub fn lock_runnable_tool_calls(
        &mut self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ToolCallRow>> {
        let mut calls = self.query(
            select_calls!(
                "WHERE c.state = 1 AND c.lease_ms <= ?1 ORDER BY c.id LIMIT ?2 /*lock free*/"
            ),
            &[now.as_ms().into(), limit_param(limit)],
            call_row,
        )?;
        let rest = limit.saturating_sub(calls.len());
        calls.extend(self.query(
            select_calls!(
                "WHERE c.state = 0 AND c.due_ms <= ?1 ORDER BY c.due_ms, c.id LIMIT ?2 /*lock free*/"
            ),
            &[now.as_ms().into(), limit_param(rest)],
            call_row,
        )?);
        Ok(calls)
    }

    /// Lets a runner keep its calls for longer.
    pub fn extend_tool_leases(&mut self, holder: &str, until: Timestamp) -> Result<u64> {
        self.execute(
            "UPDATE tool_call SET lease_ms = ?2
             WHERE state = 1 AND lease_ms IS NOT NULL AND holder = ?1",
            &[holder.into(), until.as_ms().into()],
        )
    }

    /// Takes every call from its runner: whoever had them is gone.
    pub fn lapse_tool_leases(&mut self, now: Timestamp) -> Result<u64> {
        self.execute(
            "UPDATE tool_call SET lease_ms = ?1 WHERE state = 1 AND lease_ms > ?1",
            &[now.as_ms().into()],
        )
    }

    /// The calls that came from this one and have not ended; nobody else may change them until the
    /// commit.
    pub fn lock_open_calls_below(
        &mut self,
        parent_row: i64,
        limit: usize,
    ) -> Result<Vec<ToolCallRow>> {
        self.query(
            select_calls!("WHERE c.parent = ?1 AND c.state < 2 ORDER BY c.id LIMIT ?2 /*lock*/"),
            &[parent_row.into(), limit_param(limit)],
            call_row,
        )
    }

    /// The numbers of the messages that answer calls of a task, the newest first.
    pub fn answers_of_task(
        &mut self,
        thread_row: i64,
        task: TaskId,
        limit: i64,
    ) -> Result<Vec<i64>> {
        self.query(
            "SELECT answer_seq FROM tool_call
             WHERE thread = ?1 AND task = ?2 AND answer_seq IS NOT NULL ORDER BY id DESC LIMIT ?3",
            &[thread_row.into(), task.as_bytes().into(), limit.into()],
            |row| row.int(0),
        )
    }

    /// Whether a call of this task took this way before.
    pub fn has_task_gone(&mut self, thread_row: i64, task: TaskId, way: &str) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM tool_call WHERE thread = ?1 AND task = ?2 AND way = ?3 LIMIT 1",
            &[thread_row.into(), task.as_bytes().into(), way.into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// Whether a call may be run now.
    pub fn has_runnable_tool_calls(&mut self, now: Timestamp) -> Result<bool> {
        let found = self.query_one(
            "SELECT EXISTS (SELECT 1 FROM tool_call WHERE state = 0 AND due_ms <= ?1)
                 OR EXISTS (SELECT 1 FROM tool_call WHERE state = 1 AND lease_ms <= ?1)",
            &[now.as_ms().into()],
            |row| row.flag(0),
        )?;
        Ok(found.unwrap_or(false))
    }
}

fn call_row(row: &Row<'_>) -> Result<ToolCallRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "tool call" };
    let parent_id = row.opt_blob(10)?;
    Ok(ToolCallRow {
        row: row.int(0)?,
        id: ToolCallId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        thread_row: row.int(3)?,
        thread_id: ThreadId::from_bytes(&row.blob(4)?).ok_or(CORRUPT)?,
        seq: row.int(5)?,
        answer_seq: row.opt_int(6)?,
        key: row.text(7)?,
        task: TaskId::from_bytes(&row.blob(8)?).ok_or(CORRUPT)?,
        parent_row: row.opt_int(9)?,
        parent_id: parent_id.as_deref().and_then(ToolCallId::from_bytes),
        depth: row.int(11)?,
        caller: row.text(12)?,
        name: row.text(13)?,
        args: row.text(14)?,
        tool: row.text(15)?,
        way: row.opt_text(16)?,
        next_way: row.int(17)?,
        state: ToolCallState::from_code(row.int(18)?).ok_or(CORRUPT)?,
        attempts: row.int(19)?,
        hops: row.int(20)?,
        due: Timestamp::from_ms(row.int(21)?),
        holder: row.opt_text(22)?,
        lease: row.opt_int(23)?.map(Timestamp::from_ms),
        result: row.opt_text(24)?,
        created: Timestamp::from_ms(row.int(25)?),
        ended: row.opt_int(26)?.map(Timestamp::from_ms),
    })
}
