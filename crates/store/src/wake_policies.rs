//! Who is woken when, as it was set: for an agent, and for an agent in one thread.

use protocol::{Timestamp, WakeState};

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;

/// The thread of a policy that holds wherever no other does.
const EVERY_THREAD: i64 = 0;

/// What was set for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakePolicyRow {
    /// The thread it is for; `None` where it is for all.
    pub thread_row: Option<i64>,
    /// What was set: JSON.
    pub policy: String,
    /// When.
    pub updated: Timestamp,
}

impl Tx<'_> {
    /// What was set for an agent, and then for the agent in this thread.
    pub fn wake_policies(
        &mut self,
        workspace: &str,
        agent: &str,
        thread_row: Option<i64>,
    ) -> Result<Vec<WakePolicyRow>> {
        self.query(
            "SELECT thread, policy, updated_ms FROM wake_policy
             WHERE workspace = ?1 AND agent = ?2 AND thread IN (0, ?3) ORDER BY thread LIMIT 2",
            &[workspace.into(), agent.into(), thread_row.unwrap_or(EVERY_THREAD).into()],
            |row| {
                Ok(WakePolicyRow {
                    thread_row: Some(row.int(0)?).filter(|thread| *thread != EVERY_THREAD),
                    policy: row.text(1)?,
                    updated: Timestamp::from_ms(row.int(2)?),
                })
            },
        )
    }

    /// Sets what holds for an agent, in one thread or in all.
    pub fn set_wake_policy(
        &mut self,
        workspace: &str,
        agent: &str,
        new: &WakePolicyRow,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO wake_policy (workspace, agent, thread, policy, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (workspace, agent, thread) DO UPDATE SET policy = excluded.policy,
                 updated_ms = excluded.updated_ms",
            &[
                workspace.into(),
                agent.into(),
                new.thread_row.unwrap_or(EVERY_THREAD).into(),
                new.policy.as_str().into(),
                new.updated.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// Forgets what was set; answers whether there was anything.
    pub fn remove_wake_policy(
        &mut self,
        workspace: &str,
        agent: &str,
        thread_row: Option<i64>,
    ) -> Result<bool> {
        let removed = self.execute(
            "DELETE FROM wake_policy WHERE workspace = ?1 AND agent = ?2 AND thread = ?3",
            &[workspace.into(), agent.into(), thread_row.unwrap_or(EVERY_THREAD).into()],
        )?;
        Ok(removed > 0)
    }

    /// The newest message of a thread that an agent was ever to be woken for; 0 for none.
    pub fn woken_through(&mut self, thread_row: i64, agent: &str) -> Result<i64> {
        let newest = self.query_one(
            "SELECT max(through_seq) FROM wake WHERE thread = ?1 AND agent = ?2",
            &[thread_row.into(), agent.into()],
            |row| row.opt_int(0),
        )?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// The same, without the wakes that came to nothing.
    pub fn told_through(&mut self, thread_row: i64, agent: &str) -> Result<i64> {
        let newest = self.query_one(
            "SELECT max(through_seq) FROM wake WHERE thread = ?1 AND agent = ?2 AND state <> ?3",
            &[thread_row.into(), agent.into(), WakeState::Failed.code().into()],
            |row| row.opt_int(0),
        )?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// Why the wake of an agent about the newest message of a thread waits or ended, if it says so.
    pub fn newest_why(&mut self, thread_row: i64, agent: &str) -> Result<Option<String>> {
        let why = self.query_one(
            "SELECT why FROM wake WHERE thread = ?1 AND agent = ?2
             ORDER BY through_seq DESC, id DESC LIMIT 1",
            &[thread_row.into(), agent.into()],
            |row| row.opt_text(0),
        )?;
        Ok(why.flatten())
    }

    /// Whether there is anybody in any workspace who could be woken.
    pub fn is_anyone_wakeable(&mut self) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM agent_session UNION ALL SELECT 1 FROM agent_profile LIMIT 1",
            &[],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// Those who take part in a thread and were ever seen or started, in the order of their names.
    pub fn wakeable_participants(&mut self, thread_row: i64) -> Result<Vec<String>> {
        self.query(
            "SELECT p.agent FROM participant p JOIN thread t ON t.id = p.thread
             WHERE p.thread = ?1 AND p.listed = 1 AND t.origin IS NULL
               AND (EXISTS (SELECT 1 FROM agent_session s
                        WHERE s.workspace = t.workspace AND s.agent = p.agent)
                 OR EXISTS (SELECT 1 FROM agent_profile a
                        WHERE a.workspace = t.workspace AND a.agent = p.agent))
             ORDER BY p.agent",
            &[thread_row.into()],
            |row| row.text(0),
        )
    }

    /// The rows of the log after one and up to another, with their threads; those of chats are left
    /// out.
    pub fn log_places(
        &mut self,
        after_row: i64,
        upto_row: i64,
        limit: usize,
    ) -> Result<Vec<(i64, i64)>> {
        self.query(
            "SELECT id, thread FROM message
             WHERE id > ?1 AND id <= ?2 AND remote_id IS NULL ORDER BY id LIMIT ?3",
            &[after_row.into(), upto_row.into(), limit_param(limit)],
            |row| Ok((row.int(0)?, row.int(1)?)),
        )
    }

    /// The newest row of the log that was taken before a moment; 0 for none. Chats are left out.
    pub fn newest_message_row_before(&mut self, moment: Timestamp) -> Result<i64> {
        let newest = self.query_one(
            "SELECT id FROM message WHERE remote_id IS NULL AND created_ms < ?1
             ORDER BY id DESC LIMIT 1",
            &[moment.as_ms().into()],
            |row| row.int(0),
        )?;
        Ok(newest.unwrap_or(0))
    }

    /// When the newest wakes of an agent were due since a moment, the last first.
    pub fn wakes_due_since(
        &mut self,
        workspace: &str,
        agent: &str,
        since: Timestamp,
        limit: i64,
    ) -> Result<Vec<Timestamp>> {
        // The inner limit keeps an agent with a long history from being read through each time.
        self.query(
            "SELECT due_ms FROM (SELECT due_ms, state, handed_ms FROM wake
                 WHERE workspace = ?1 AND agent = ?2 ORDER BY id DESC LIMIT 4000) AS newest
             WHERE due_ms > ?3 AND (state <> 6 OR handed_ms IS NOT NULL)
             ORDER BY due_ms DESC LIMIT ?4",
            &[workspace.into(), agent.into(), since.as_ms().into(), limit.into()],
            |row| Ok(Timestamp::from_ms(row.int(0)?)),
        )
    }
}
