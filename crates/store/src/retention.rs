//! Forgetting what is over. Tables are walked by their own order, a portion at a time: what is young ends
//! the walk, and of what is old only that stays which somebody still needs.

use protocol::{TaskId, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;

/// What is forgotten when it is over, in the order in which it is: what leans on something goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Actions that left, were taken back or were given up.
    Outbox,
    /// Proposals that were decided, taken back, or sent back and never revised.
    Proposals,
    /// Calls of tools that ended.
    ToolCalls,
    /// Work that is done or was given up.
    Work,
}

/// What ended before these moments is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Cutoffs {
    /// What came to a good end.
    pub finished: Timestamp,
    /// What was given up, or failed.
    pub dead: Timestamp,
}

/// A few rows that are old, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// They come after this row.
    pub after: i64,
    /// The last of them.
    pub upto: i64,
    /// How many of them nobody needs any more.
    pub count: i64,
}

// Where a row is looked for by its id, the bounds of the portion are said once more: PostgreSQL would
// walk through the whole index for every portion.

/// Actions that nobody needs. One that arrived stays while something at its destination is not through,
/// which may take its place, and while a human may still be asked in its thread.
macro_rules! outbox {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM outbox WHERE id > ?1 AND id <= ?2
               AND ((state IN (2, 4) AND ended_ms < ?3 AND NOT EXISTS
                       (SELECT 1 FROM outbox o WHERE o.link = outbox.link
                          AND o.destination = outbox.destination AND (o.state < 2 OR o.state = 3)))
                 OR (state = 3 AND ended_ms < ?4))
               AND NOT EXISTS (SELECT 1 FROM proposal p
                               WHERE p.thread = outbox.thread AND p.state IN (0, 5))"
        )
    };
}

/// Proposals that nobody needs. One stays while an action leans on it: what was given up may be tried
/// again, and is then held against what was decided.
macro_rules! proposals {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM proposal WHERE id > ?1 AND id <= ?2 AND state IN (1, 2, 3, 4, 6)
               AND NOT EXISTS
                   (SELECT 1 FROM proposal_step s WHERE s.proposal = proposal.id AND s.at_ms >=
                        CASE WHEN proposal.state = 3 THEN CAST(?4 AS BIGINT)
                             ELSE CAST(?3 AS BIGINT) END)
               AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.proposal = proposal.id
                                 AND o.proposal > ?1 AND o.proposal <= ?2)"
        )
    };
}

/// Calls that nobody needs. A call is known again by its id while its thread has work that is not done,
/// and while a call that came from it has not ended.
macro_rules! tool_calls {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM tool_call WHERE id > ?1 AND id <= ?2
               AND ((state IN (2, 4) AND ended_ms < ?3) OR (state IN (3, 5) AND ended_ms < ?4))
               AND NOT EXISTS (SELECT 1 FROM work w
                               WHERE w.thread = tool_call.thread AND (w.state < 2 OR w.state = 5))
               AND NOT EXISTS (SELECT 1 FROM work w
                               WHERE w.thread = tool_call.thread AND w.state = 4)
               AND NOT EXISTS (SELECT 1 FROM tool_call c
                               WHERE c.parent = tool_call.id AND c.state < 2
                                 AND c.parent > ?1 AND c.parent <= ?2)"
        )
    };
}

/// Work that nobody needs. It stays while a proposal came from it: a remark goes back to its queue.
macro_rules! work {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM work WHERE id > ?1 AND id <= ?2
               AND ((state = 2 AND ended_ms < ?3) OR (state = 3 AND ended_ms < ?4))
               AND NOT EXISTS (SELECT 1 FROM proposal p WHERE p.work = work.id
                                 AND p.work > ?1 AND p.work <= ?2)"
        )
    };
}

/// The steps of proposals that are gone.
const FORGET_STEPS: &str = "DELETE FROM proposal_step WHERE proposal > ?1 AND proposal <= ?2
     AND NOT EXISTS (SELECT 1 FROM proposal p WHERE p.id = proposal_step.proposal)";
const WALK_POSTED: &str = "SELECT at_ms FROM posted WHERE at_ms < ?1 ORDER BY at_ms LIMIT ?2";
const FORGET_POSTED: &str = "DELETE FROM posted WHERE at_ms <= ?1";
const WALK_CHAT_SENDS: &str =
    "SELECT at_ms FROM chat_send WHERE at_ms < ?1 ORDER BY at_ms LIMIT ?2";
const FORGET_CHAT_SENDS: &str = "DELETE FROM chat_send WHERE at_ms <= ?1";
const FORGET_SESSION_LAYERS: &str = "DELETE FROM session_layer WHERE thread IN
     (SELECT thread FROM session_layer WHERE updated_ms < ?1 ORDER BY updated_ms LIMIT ?2)";

impl Kept {
    /// All of it, in the order in which it is forgotten.
    pub const ALL: [Self; 4] = [Self::Outbox, Self::Proposals, Self::ToolCalls, Self::Work];

    /// What it is called in the metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::Proposals => "proposals",
            Self::ToolCalls => "tool_calls",
            Self::Work => "work",
        }
    }

    /// Its rows after one, in the order in which they were made.
    pub(crate) const fn walk(self) -> &'static str {
        match self {
            Self::Outbox => "SELECT id, created_ms FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2",
            Self::Proposals => {
                "SELECT id, created_ms FROM proposal WHERE id > ?1 ORDER BY id LIMIT ?2"
            }
            Self::ToolCalls => {
                "SELECT id, created_ms FROM tool_call WHERE id > ?1 ORDER BY id LIMIT ?2"
            }
            Self::Work => "SELECT id, created_ms FROM work WHERE id > ?1 ORDER BY id LIMIT ?2",
        }
    }

    /// How many of a portion nobody needs.
    pub(crate) const fn count(self) -> &'static str {
        match self {
            Self::Outbox => outbox!("SELECT count(*)"),
            Self::Proposals => proposals!("SELECT count(*)"),
            Self::ToolCalls => tool_calls!("SELECT count(*)"),
            Self::Work => work!("SELECT count(*)"),
        }
    }

    /// Deletes them.
    pub(crate) const fn forget(self) -> &'static str {
        match self {
            Self::Outbox => outbox!("DELETE"),
            Self::Proposals => proposals!("DELETE"),
            Self::ToolCalls => tool_calls!("DELETE"),
            Self::Work => work!("DELETE"),
        }
    }
}

impl Tx<'_> {
    /// The next few rows after one that are old enough to be looked at; `None` when there are none.
    pub fn old_portion(
        &mut self,
        kept: Kept,
        after: i64,
        cutoffs: Cutoffs,
        limit: usize,
    ) -> Result<Option<Portion>> {
        let youngest = cutoffs.finished.max(cutoffs.dead).as_ms();
        let mut upto = after;
        self.each(kept.walk(), &[after.into(), limit_param(limit)], |row| {
            let is_old = row.int(1)? < youngest;
            if is_old {
                upto = row.int(0)?;
            }
            Ok(is_old)
        })?;
        if upto == after {
            return Ok(None);
        }
        let (finished, dead) = (cutoffs.finished.as_ms(), cutoffs.dead.as_ms());
        let params = [after.into(), upto.into(), finished.into(), dead.into()];
        let count = self.query_one(kept.count(), &params, |row| row.int(0))?;
        Ok(Some(Portion { after, upto, count: count.unwrap_or(0) }))
    }

    /// Forgets what nobody needs of a portion; answers how much that was.
    pub fn forget_portion(
        &mut self,
        kept: Kept,
        portion: Portion,
        cutoffs: Cutoffs,
    ) -> Result<u64> {
        let (finished, dead) = (cutoffs.finished.as_ms(), cutoffs.dead.as_ms());
        let params = [portion.after.into(), portion.upto.into(), finished.into(), dead.into()];
        let forgotten = self.execute(kept.forget(), &params)?;
        if kept == Kept::Proposals {
            self.execute(FORGET_STEPS, &[portion.after.into(), portion.upto.into()])?;
        }
        Ok(forgotten)
    }

    /// The tasks of work that nobody needs of a portion: their workspaces, themselves, and the rows of
    /// their threads.
    pub fn tasks_of_portion(
        &mut self,
        portion: Portion,
        cutoffs: Cutoffs,
    ) -> Result<Vec<(String, TaskId, i64)>> {
        let (finished, dead) = (cutoffs.finished.as_ms(), cutoffs.dead.as_ms());
        self.query(
            work!("SELECT DISTINCT workspace, task, thread"),
            &[portion.after.into(), portion.upto.into(), finished.into(), dead.into()],
            |row| {
                let task = TaskId::from_bytes(&row.blob(1)?);
                let task = task.ok_or(StoreError::Corrupt { what: "work" })?;
                Ok((row.text(0)?, task, row.int(2)?))
            },
        )
    }

    /// When the oldest was posted that is still known as ours.
    pub fn oldest_posted(&mut self) -> Result<Option<Timestamp>> {
        let oldest = self.query_one("SELECT min(at_ms) FROM posted", &[], |row| row.opt_int(0))?;
        Ok(oldest.flatten().map(Timestamp::from_ms))
    }

    /// When the oldest summary of a thread was made.
    pub fn oldest_session_layer(&mut self) -> Result<Option<Timestamp>> {
        let sql = "SELECT min(updated_ms) FROM session_layer";
        let oldest = self.query_one(sql, &[], |row| row.opt_int(0))?;
        Ok(oldest.flatten().map(Timestamp::from_ms))
    }

    /// Forgets that we posted what was posted before a moment: so much of it, and what was posted in the
    /// very millisecond of the last; answers how much.
    pub fn forget_posted(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        let params = [before.as_ms().into(), limit_param(limit)];
        let oldest = self.query(WALK_POSTED, &params, |row| row.int(0))?;
        let Some(upto) = oldest.last() else { return Ok(0) };
        self.execute(FORGET_POSTED, &[(*upto).into()])
    }

    /// When the oldest message to a chat was asked for.
    pub fn oldest_chat_send(&mut self) -> Result<Option<Timestamp>> {
        let sql = "SELECT min(at_ms) FROM chat_send";
        let oldest = self.query_one(sql, &[], |row| row.opt_int(0))?;
        Ok(oldest.flatten().map(Timestamp::from_ms))
    }

    /// Forgets which messages to chats were asked for before a moment: so many, and those of the very
    /// millisecond of the last; answers how many.
    pub fn forget_chat_sends(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        let params = [before.as_ms().into(), limit_param(limit)];
        let oldest = self.query(WALK_CHAT_SENDS, &params, |row| row.int(0))?;
        let Some(upto) = oldest.last() else { return Ok(0) };
        self.execute(FORGET_CHAT_SENDS, &[(*upto).into()])
    }

    /// Forgets the summaries of threads that were made before a moment, at most so many; answers how
    /// many.
    pub fn forget_session_layers(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        self.execute(FORGET_SESSION_LAYERS, &[before.as_ms().into(), limit_param(limit)])
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::migrate;
    use crate::sessions::{FORGET_SESSION, IS_SESSION_OVER, WALK_SESSIONS};
    use crate::tokens::FORGET_TOKENS;

    /// How SQLite goes about a statement, step by step.
    fn plan(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // What stands for its parameters does not change the plan.
        let mut rows = statement.raw_query();
        let mut steps = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            steps.push(row.get(3).unwrap());
        }
        steps
    }

    #[test]
    fn nothing_is_forgotten_by_looking_at_everything() {
        let connection = Connection::open_in_memory().unwrap();
        migrate::sqlite(&connection).unwrap();
        let mut statements = vec![
            FORGET_STEPS,
            WALK_POSTED,
            FORGET_POSTED,
            WALK_CHAT_SENDS,
            FORGET_CHAT_SENDS,
            FORGET_SESSION_LAYERS,
            WALK_SESSIONS,
            IS_SESSION_OVER,
            FORGET_SESSION,
            FORGET_TOKENS,
            work!("SELECT DISTINCT workspace, task, thread"),
        ];
        for kept in Kept::ALL {
            statements.extend([kept.walk(), kept.count(), kept.forget()]);
        }
        for sql in statements {
            let steps = plan(&connection, sql);
            assert!(steps.iter().any(|step| step.starts_with("SEARCH")), "{sql}: {steps:?}");
            assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{sql}: {steps:?}");
        }
        // What was asked before by looking at every proposal has an index now.
        let waiting = "SELECT count(*), min(created_ms) FROM proposal WHERE state IN (0, 5)";
        let steps = plan(&connection, waiting);
        assert!(steps.iter().all(|step| step.contains("proposal_open")), "{steps:?}");
    }
}
