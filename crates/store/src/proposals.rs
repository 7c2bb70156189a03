//! Proposals: what an agent wants to do outside and a human decides, with every draft and every step.

use protocol::relay::{ProposalState, ProposalStep};
use protocol::{ProposalId, TaskId, ThreadId, Timestamp, Trust};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// A proposal as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalRow {
    /// Its row number; 0 before it is stored.
    pub row: i64,
    /// Its id.
    pub id: ProposalId,
    /// Its workspace.
    pub workspace: String,
    /// The thread's row.
    pub thread_row: i64,
    /// The thread.
    pub thread_id: ThreadId,
    /// The task it belongs to.
    pub task: TaskId,
    /// The row of the work it came from.
    pub work: Option<i64>,
    /// The agent that wants it.
    pub agent: String,
    /// How far it has come.
    pub state: ProposalState,
    /// Counts drafts, from 1.
    pub version: i64,
    /// The draft as it stands, or what was approved: JSON.
    pub action: String,
    /// Its digest.
    pub action_hash: Vec<u8>,
    /// Why the agent wants it.
    pub why: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires, or did.
    pub expires: Timestamp,
    /// When it must be looked at next.
    pub remind: Option<Timestamp>,
    /// How often somebody was reminded.
    pub reminders: i64,
    /// Where people are asked: JSON.
    pub asked_at: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// By which way.
    pub decided_via: Option<String>,
    /// When.
    pub decided: Option<Timestamp>,
    /// And what they said.
    pub comment: Option<String>,
}

/// Something that happened to a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalStepRow {
    /// The draft it happened to.
    pub version: i64,
    /// What happened.
    pub kind: ProposalStep,
    /// Who did it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
    /// The action, where it was written then: JSON.
    pub action: Option<String>,
    /// What was said.
    pub comment: Option<String>,
}

/// Which proposals to list. Empty text and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct ProposalFilter {
    /// The workspace.
    pub workspace: String,
    /// Only proposals in threads this agent may enter; empty for all.
    pub member: String,
    /// Only proposals of this agent; empty for all.
    pub agent: String,
    /// Only proposals of this thread.
    pub thread_row: Option<i64>,
    /// Only proposals that have come so far.
    pub state: Option<ProposalState>,
    /// Only proposals about which a human may still decide.
    pub open_only: bool,
    /// Only proposals before this row of an earlier page.
    pub before: Option<i64>,
    /// How many.
    pub limit: usize,
}

/// The columns of a proposal, in the order in which [`proposal_row`] reads them.
macro_rules! select_proposals {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.uid, p.workspace, p.thread,
                    (SELECT t.uid FROM thread t WHERE t.id = p.thread), p.task, p.work, p.agent,
                    p.state, p.version, p.action, p.action_hash, p.why, p.created_ms, p.expires_ms,
                    p.remind_ms, p.reminders, p.asked_at, p.decided_by, p.decided_via,
                    p.decided_ms, p.comment
             FROM proposal p ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Stores a new proposal and answers its row.
    pub fn insert_proposal(&mut self, new: &ProposalRow) -> Result<i64> {
        self.insert(
            "INSERT INTO proposal (uid, workspace, thread, task, work, agent, state, version, action,
                 action_hash, why, created_ms, expires_ms, remind_ms, reminders, asked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            &[
                new.id.as_bytes().into(),
                new.workspace.as_str().into(),
                new.thread_row.into(),
                new.task.as_bytes().into(),
                new.work.into(),
                new.agent.as_str().into(),
                new.state.code().into(),
                new.version.into(),
                new.action.as_str().into(),
                new.action_hash.as_slice().into(),
                new.why.as_str().into(),
                new.created.as_ms().into(),
                new.expires.as_ms().into(),
                new.remind.map(Timestamp::as_ms).into(),
                new.reminders.into(),
                new.asked_at.as_deref().into(),
            ],
        )
    }

    /// Writes back what can change of a proposal.
    pub fn update_proposal(&mut self, proposal: &ProposalRow) -> Result<()> {
        self.execute(
            "UPDATE proposal SET state = ?2, version = ?3, action = ?4, action_hash = ?5, why = ?6,
                 expires_ms = ?7, remind_ms = ?8, reminders = ?9, asked_at = ?10, decided_by = ?11,
                 decided_via = ?12, decided_ms = ?13, comment = ?14
             WHERE id = ?1",
            &[
                proposal.row.into(),
                proposal.state.code().into(),
                proposal.version.into(),
                proposal.action.as_str().into(),
                proposal.action_hash.as_slice().into(),
                proposal.why.as_str().into(),
                proposal.expires.as_ms().into(),
                proposal.remind.map(Timestamp::as_ms).into(),
                proposal.reminders.into(),
                proposal.asked_at.as_deref().into(),
                proposal.decided_by.as_deref().into(),
                proposal.decided_via.as_deref().into(),
                proposal.decided.map(Timestamp::as_ms).into(),
                proposal.comment.as_deref().into(),
            ],
        )?;
        Ok(())
    }

    /// A proposal by its id.
    pub fn proposal(&mut self, id: ProposalId) -> Result<Option<ProposalRow>> {
        let sql = select_proposals!("WHERE p.uid = ?1");
        self.query_one(sql, &[id.as_bytes().into()], proposal_row)
    }

    /// A proposal by its row.
    pub fn proposal_by_row(&mut self, row: i64) -> Result<Option<ProposalRow>> {
        self.query_one(select_proposals!("WHERE p.id = ?1"), &[row.into()], proposal_row)
    }

    /// The same by its id, and nobody else may change it until the commit.
    pub fn lock_proposal(&mut self, id: ProposalId) -> Result<Option<ProposalRow>> {
        let sql = select_proposals!("WHERE p.uid = ?1 /*lock*/");
        self.query_one(sql, &[id.as_bytes().into()], proposal_row)
    }

    /// The open proposal of an agent in a thread that would do exactly this.
    pub fn open_proposal_like(
        &mut self,
        thread_row: i64,
        agent: &str,
        action_hash: &[u8],
    ) -> Result<Option<ProposalRow>> {
        self.query_one(
            select_proposals!(
                "WHERE p.thread = ?1 AND p.agent = ?2 AND p.action_hash = ?3 AND p.state IN (0, 5)
                 ORDER BY p.id LIMIT 1"
            ),
            &[thread_row.into(), agent.into(), action_hash.into()],
            proposal_row,
        )
    }

    /// A proposal that came from some work and waits for a human.
    pub fn open_proposal_of_work(&mut self, work_row: i64) -> Result<Option<ProposalId>> {
        self.query_one(
            "SELECT uid FROM proposal WHERE work = ?1 AND state IN (0, 5) ORDER BY id LIMIT 1",
            &[work_row.into()],
            |row| ProposalId::from_bytes(&row.blob(0)?).ok_or(CORRUPT),
        )
    }

    /// Proposals that must be looked at, the longest due first.
    pub fn due_proposals(&mut self, now: Timestamp, limit: usize) -> Result<Vec<ProposalId>> {
        self.query(
            "SELECT uid FROM proposal WHERE remind_ms IS NOT NULL AND remind_ms <= ?1
             ORDER BY remind_ms, id LIMIT ?2",
            &[now.as_ms().into(), limit_param(limit)],
            |row| ProposalId::from_bytes(&row.blob(0)?).ok_or(CORRUPT),
        )
    }

    /// When the next proposal must be looked at.
    pub fn next_proposal_due(&mut self) -> Result<Option<Timestamp>> {
        let next = self.query_one(
            "SELECT min(remind_ms) FROM proposal WHERE remind_ms IS NOT NULL",
            &[],
            |row| row.opt_int(0),
        )?;
        Ok(next.flatten().map(Timestamp::from_ms))
    }

    /// How many proposals wait for a human, expired ones among them, and since when the oldest does.
    pub fn waiting_proposals(&mut self) -> Result<(i64, Option<Timestamp>)> {
        let found = self.query_one(
            "SELECT count(*), min(created_ms) FROM proposal WHERE state IN (0, 5)",
            &[],
            |row| Ok((row.int(0)?, row.opt_int(1)?)),
        )?;
        let (count, oldest) = found.unwrap_or_default();
        Ok((count, oldest.map(Timestamp::from_ms)))
    }

    /// A page of proposals, the newest first.
    pub fn proposals(&mut self, filter: &ProposalFilter) -> Result<Vec<ProposalRow>> {
        self.query(
            select_proposals!(
                "WHERE p.workspace = ?1
                   AND (?2 = '' OR p.agent = ?2
                        OR p.thread IN (SELECT m.thread FROM participant m WHERE m.agent = ?2))
                   AND (?3 = '' OR p.agent = ?3)
                   AND (CAST(?4 AS BIGINT) < 0 OR p.thread = ?4)
                   AND (CAST(?5 AS BIGINT) < 0 OR p.state = ?5)
                   AND (CAST(?6 AS BIGINT) = 0 OR p.state IN (0, 5))
                   AND p.id < ?7
                 ORDER BY p.id DESC LIMIT ?8"
            ),
            &[
                filter.workspace.as_str().into(),
                filter.member.as_str().into(),
                filter.agent.as_str().into(),
                filter.thread_row.unwrap_or(-1).into(),
                filter.state.map_or(-1, ProposalState::code).into(),
                filter.open_only.into(),
                filter.before.unwrap_or(i64::MAX).into(),
                limit_param(filter.limit),
            ],
            proposal_row,
        )
    }

    /// Adds a step to a proposal.
    pub fn insert_proposal_step(
        &mut self,
        proposal_row: i64,
        step: &ProposalStepRow,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO proposal_step (proposal, version, kind, actor, at_ms, action, comment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                proposal_row.into(),
                step.version.into(),
                step.kind.code().into(),
                step.actor.as_str().into(),
                step.at.as_ms().into(),
                step.action.as_deref().into(),
                step.comment.as_deref().into(),
            ],
        )?;
        Ok(())
    }

    /// The steps of a proposal, the oldest first.
    pub fn proposal_steps(
        &mut self,
        proposal_row: i64,
        limit: usize,
    ) -> Result<Vec<ProposalStepRow>> {
        self.query(
            "SELECT version, kind, actor, at_ms, action, comment FROM proposal_step
             WHERE proposal = ?1 ORDER BY id LIMIT ?2",
            &[proposal_row.into(), limit_param(limit)],
            |row| {
                Ok(ProposalStepRow {
                    version: row.int(0)?,
                    kind: ProposalStep::from_code(row.int(1)?).ok_or(CORRUPT)?,
                    actor: row.text(2)?,
                    at: Timestamp::from_ms(row.int(3)?),
                    action: row.opt_text(4)?,
                    comment: row.opt_text(5)?,
                })
            },
        )
    }

    /// Whether an agent has entered a thread that began at a service.
    pub fn has_met_strangers(&mut self, workspace: &str, agent: &str) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM participant p
             JOIN relay_thread r ON r.thread = p.thread
             JOIN thread t ON t.id = p.thread
             WHERE p.agent = ?1 AND t.workspace = ?2 LIMIT 1",
            &[agent.into(), workspace.into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// Whether anything in a thread comes from there.
    pub fn thread_holds(&mut self, thread_row: i64, trust: Trust) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM message WHERE thread = ?1 AND trust = ?2 LIMIT 1",
            &[thread_row.into(), trust.code().into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

const CORRUPT: StoreError = StoreError::Corrupt { what: "proposal" };

fn proposal_row(row: &Row<'_>) -> Result<ProposalRow> {
    let at = |index| Ok::<_, StoreError>(row.opt_int(index)?.map(Timestamp::from_ms));
    Ok(ProposalRow {
        row: row.int(0)?,
        id: ProposalId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        thread_row: row.int(3)?,
        thread_id: ThreadId::from_bytes(&row.blob(4)?).ok_or(CORRUPT)?,
        task: TaskId::from_bytes(&row.blob(5)?).ok_or(CORRUPT)?,
        work: row.opt_int(6)?,
        agent: row.text(7)?,
        state: ProposalState::from_code(row.int(8)?).ok_or(CORRUPT)?,
        version: row.int(9)?,
        action: row.text(10)?,
        action_hash: row.blob(11)?,
        why: row.text(12)?,
        created: Timestamp::from_ms(row.int(13)?),
        expires: Timestamp::from_ms(row.int(14)?),
        remind: at(15)?,
        reminders: row.int(16)?,
        asked_at: row.opt_text(17)?,
        decided_by: row.opt_text(18)?,
        decided_via: row.opt_text(19)?,
        decided: at(20)?,
        comment: row.opt_text(21)?,
    })
}
