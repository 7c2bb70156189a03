//! Actions on their way to services. Of each destination only the first unfinished one is sent, so its
//! order is kept, and whoever looks for something to send looks at such heads alone.
//!
//! Whatever adds or ends an action locks its link first, so that nobody is left behind a head that has
//! just ended.

use protocol::relay::{ActionHash, OutboxState};
use protocol::{OutboxId, TaskId, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// An action to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewOutboxRow<'a> {
    /// Its id.
    pub id: OutboxId,
    /// Its workspace.
    pub workspace: &'a str,
    /// The link it goes through.
    pub link_row: i64,
    /// The place there whose order is kept.
    pub destination: &'a str,
    /// What is done: JSON.
    pub action: &'a str,
    /// Its digest.
    pub action_hash: ActionHash,
    /// What the buttons beneath it carry.
    pub buttons: Option<&'a str>,
    /// What it takes the place of: JSON.
    pub replaces: Option<&'a str>,
    /// The thread it belongs to.
    pub thread_row: Option<i64>,
    /// The task it belongs to.
    pub task: Option<TaskId>,
    /// Who wanted it.
    pub agent: &'a str,
    /// The proposal that allowed it.
    pub proposal: Option<i64>,
    /// When.
    pub at: Timestamp,
}

/// An action as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its row number.
    pub row: i64,
    /// Its id.
    pub id: OutboxId,
    /// Its workspace.
    pub workspace: String,
    /// The link it goes through.
    pub link_row: i64,
    /// The place there whose order is kept.
    pub destination: String,
    /// Whether it is the first unfinished one of its destination.
    pub is_head: bool,
    /// What is done: JSON.
    pub action: String,
    /// Its digest.
    pub action_hash: ActionHash,
    /// What the buttons beneath it carry.
    pub buttons: Option<String>,
    /// What it takes the place of: JSON.
    pub replaces: Option<String>,
    /// The thread it belongs to.
    pub thread_row: Option<i64>,
    /// The task it belongs to.
    pub task: Option<TaskId>,
    /// Who wanted it.
    pub agent: String,
    /// The proposal that allowed it.
    pub proposal: Option<i64>,
    /// How far it has come.
    pub state: OutboxState,
    /// Parts that have arrived.
    pub parts_done: i64,
    /// What the service called them: a JSON list.
    pub receipts: Option<String>,
    /// How often a part was sent and nobody said that it arrived.
    pub attempts: i64,
    /// Not before then.
    pub due: Timestamp,
    /// Whether a request may have gone out whose end nobody knows.
    pub sending: bool,
    /// How often the service was asked since, and did not show it.
    pub looks: i64,
    /// Who sends it, or sent it last.
    pub holder: Option<String>,
    /// Until when nobody else does.
    pub lease: Option<Timestamp>,
    /// Why it waits or was given up.
    pub reason: Option<String>,
    /// What the service said last.
    pub answer: Option<String>,
    /// When it was added.
    pub created: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// Which actions to list. `None` does not narrow.
#[derive(Clone, Debug, Default)]
pub struct OutboxFilter {
    /// The workspace.
    pub workspace: String,
    /// Only what has come so far.
    pub state: Option<OutboxState>,
    /// Only what goes through this link.
    pub link_row: Option<i64>,
    /// Only what stands before this row of an earlier page.
    pub before: Option<i64>,
    /// How many.
    pub limit: usize,
}

/// What a human decided about a proposal, as far as sending needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The stored code of the proposal's state.
    pub state: i64,
    /// The digest of what was decided about.
    pub action_hash: Vec<u8>,
    /// Who decided.
    pub decided_by: Option<String>,
}

/// The columns of an action, in the order in which [`outbox_row`] reads them.
macro_rules! select_outbox {
    ($rest:literal) => {
        concat!(
            "SELECT id, uid, workspace, link, destination, head, action, action_hash, buttons,
                    replaces, thread, task, agent, proposal, state, parts_done, receipts, attempts,
                    due_ms, sending, looks, holder, lease_ms, reason, answer, created_ms, ended_ms
             FROM outbox ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Adds an action to the end of its destination's.
    pub fn insert_outbox(&mut self, new: &NewOutboxRow<'_>) -> Result<()> {
        self.hold_link(new.link_row)?;
        let is_head = self.first_open(new.link_row, new.destination)?.is_none();
        self.execute(
            "INSERT INTO outbox (uid, workspace, link, destination, head, action, action_hash,
                 buttons, replaces, thread, task, agent, proposal, state, parts_done, attempts,
                 due_ms, sending, looks, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0, 0, ?14, 0, 0,
                 ?14)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                new.link_row.into(),
                new.destination.into(),
                is_head.into(),
                new.action.into(),
                new.action_hash.0.as_slice().into(),
                new.buttons.into(),
                new.replaces.into(),
                new.thread_row.into(),
                new.task.as_ref().map(TaskId::as_bytes).into(),
                new.agent.into(),
                new.proposal.into(),
                new.at.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// Takes what is due, or what a sender that is gone left behind: the longest due first, at most one
    /// of a destination. The holder's name is never used twice, so it fences older ones off.
    pub fn lease_outbox(
        &mut self,
        holder: &str,
        (now, until): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<OutboxRow>> {
        let due = select_outbox!(
            "WHERE state = 0 AND head = 1 AND due_ms <= ?1 ORDER BY due_ms, id LIMIT ?2
             /*lock free*/"
        );
        let lapsed = select_outbox!(
            "WHERE state = 1 AND lease_ms <= ?1 ORDER BY lease_ms LIMIT ?2 /*lock free*/"
        );
        let mut leased = Vec::new();
        for sql in [lapsed, due] {
            let room = limit_param(limit.saturating_sub(leased.len()));
            leased.append(&mut self.query(sql, &[now.as_ms().into(), room], outbox_row)?);
        }
        for action in &mut leased {
            action.state = OutboxState::Sending;
            action.holder = Some(holder.to_owned());
            action.lease = Some(until);
            self.update_outbox(action)?;
        }
        Ok(leased)
    }

    /// When the next action is due or left behind by its sender; in the past when one is now.
    pub fn next_outbox_due(&mut self) -> Result<Option<Timestamp>> {
        let mut next: Option<i64> = None;
        for sql in [
            "SELECT min(due_ms) FROM outbox WHERE state = 0 AND head = 1",
            "SELECT min(lease_ms) FROM outbox WHERE state = 1",
        ] {
            let one = self.query_one(sql, &[], |row| row.opt_int(0))?.flatten();
            next = match (next, one) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        Ok(next.map(Timestamp::from_ms))
    }

    /// Nobody sends what is marked as being sent: the one hub of this database has just started.
    pub fn abandon_outbox_leases(&mut self) -> Result<u64> {
        self.execute("UPDATE outbox SET lease_ms = 0 WHERE state = 1", &[])
    }

    /// An action by its id.
    pub fn outbox(&mut self, id: OutboxId) -> Result<Option<OutboxRow>> {
        self.query_one(select_outbox!("WHERE uid = ?1"), &[id.as_bytes().into()], outbox_row)
    }

    /// The same; nobody else may change it, or add to its destination, until the commit.
    pub fn lock_outbox(&mut self, id: OutboxId) -> Result<Option<OutboxRow>> {
        let link_row = self.query_one(
            "SELECT link FROM outbox WHERE uid = ?1",
            &[id.as_bytes().into()],
            |row| row.int(0),
        )?;
        let Some(link_row) = link_row else { return Ok(None) };
        self.hold_link(link_row)?;
        let sql = select_outbox!("WHERE uid = ?1 /*lock*/");
        self.query_one(sql, &[id.as_bytes().into()], outbox_row)
    }

    /// Writes back what can change of an action that is not finished.
    pub fn update_outbox(&mut self, action: &OutboxRow) -> Result<()> {
        self.execute(
            "UPDATE outbox SET head = ?2, state = ?3, parts_done = ?4, receipts = ?5, attempts = ?6,
                 due_ms = ?7, sending = ?8, looks = ?9, holder = ?10, lease_ms = ?11, reason = ?12,
                 answer = ?13, ended_ms = ?14
             WHERE id = ?1",
            &[
                action.row.into(),
                action.is_head.into(),
                action.state.code().into(),
                action.parts_done.into(),
                action.receipts.as_deref().into(),
                action.attempts.into(),
                action.due.as_ms().into(),
                action.sending.into(),
                action.looks.into(),
                action.holder.as_deref().into(),
                action.lease.map(Timestamp::as_ms).into(),
                action.reason.as_deref().into(),
                action.answer.as_deref().into(),
                action.ended.map(Timestamp::as_ms).into(),
            ],
        )?;
        Ok(())
    }

    /// Writes back an action that is finished: sent, dead or cancelled. The next of its destination comes
    /// first from now on; the caller has locked it with [`Tx::lock_outbox`].
    pub fn end_outbox(&mut self, action: &mut OutboxRow) -> Result<()> {
        let was_head = std::mem::take(&mut action.is_head);
        self.update_outbox(action)?;
        if was_head && let Some(next) = self.first_open(action.link_row, &action.destination)? {
            self.execute("UPDATE outbox SET head = 1 WHERE id = ?1", &[next.into()])?;
        }
        Ok(())
    }

    /// An action that was given up is tried again: first of its destination, unless another one is on
    /// its way there. The caller has locked it with [`Tx::lock_outbox`].
    pub fn reopen_outbox(&mut self, action: &mut OutboxRow, at: Timestamp) -> Result<()> {
        action.is_head = self.first_open(action.link_row, &action.destination)?.is_none();
        action.state = OutboxState::Waiting;
        (action.attempts, action.looks, action.due) = (0, 0, at);
        (action.holder, action.lease, action.ended) = (None, None, None);
        self.update_outbox(action)
    }

    /// Gives up everything that is not finished, in a database that was put back: it may have left since
    /// that was kept. Whoever tries it again has the service asked first. Answers how many there were.
    pub(crate) fn give_up_outbox(&mut self, reason: &str, at: Timestamp) -> Result<u64> {
        self.execute(
            "UPDATE outbox SET state = 3, head = 0, sending = 1, holder = NULL, lease_ms = NULL,
                 reason = ?1, ended_ms = ?2
             WHERE state IN (0, 1)",
            &[reason.into(), at.as_ms().into()],
        )
    }

    /// Remembers what the service called something that we posted, and for which thread: that is known
    /// for longer than the action.
    pub fn insert_posted(
        &mut self,
        link_row: i64,
        remote_id: &str,
        (outbox_row, thread_row): (i64, Option<i64>),
        at: Timestamp,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO posted (link, remote_id, outbox, thread, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (link, remote_id) DO NOTHING",
            &[
                link_row.into(),
                remote_id.into(),
                outbox_row.into(),
                thread_row.into(),
                at.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// What a human decided about a proposal.
    pub fn decision(&mut self, proposal_row: i64) -> Result<Option<Decision>> {
        self.query_one(
            "SELECT state, action_hash, decided_by FROM proposal WHERE id = ?1",
            &[proposal_row.into()],
            |row| {
                Ok(Decision {
                    state: row.int(0)?,
                    action_hash: row.blob(1)?,
                    decided_by: row.opt_text(2)?,
                })
            },
        )
    }

    /// A page of actions, the newest first.
    pub fn list_outbox(&mut self, filter: &OutboxFilter) -> Result<Vec<OutboxRow>> {
        // What was sent is most of it, and soon found among everything; the rest has an index of its own.
        let sql = match filter.state {
            None | Some(OutboxState::Sent | OutboxState::Cancelled) => select_outbox!(
                "WHERE workspace = ?1 AND (CAST(?2 AS BIGINT) < 0 OR link = ?2) AND id < ?3
                   AND (CAST(?4 AS BIGINT) < 0 OR state = ?4)
                 ORDER BY id DESC LIMIT ?5"
            ),
            Some(_) => select_outbox!(
                "WHERE workspace = ?1 AND (CAST(?2 AS BIGINT) < 0 OR link = ?2) AND id < ?3
                   AND (state < 2 OR state = 3) AND state = ?4
                 ORDER BY id DESC LIMIT ?5"
            ),
        };
        self.query(
            sql,
            &[
                filter.workspace.as_str().into(),
                filter.link_row.unwrap_or(-1).into(),
                filter.before.unwrap_or(i64::MAX).into(),
                filter.state.map_or(-1, OutboxState::code).into(),
                limit_param(filter.limit),
            ],
            outbox_row,
        )
    }

    /// How many actions wait, are being sent, or were given up, and when the oldest of each was added; of
    /// all workspaces.
    pub fn outbox_depths(&mut self) -> Result<Vec<(OutboxState, i64, Timestamp)>> {
        self.query(
            "SELECT d.state, d.number, (SELECT o.created_ms FROM outbox o WHERE o.id = d.oldest)
             FROM (SELECT state, count(*) AS number, min(id) AS oldest FROM outbox
                   WHERE (state < 2 OR state = 3) GROUP BY state) d
             ORDER BY d.state",
            &[],
            |row| {
                let state = OutboxState::from_code(row.int(0)?);
                let state = state.ok_or(StoreError::Corrupt { what: "outbox" })?;
                Ok((state, row.int(1)?, Timestamp::from_ms(row.int(2)?)))
            },
        )
    }

    /// Nobody else adds actions to a link, or ends any, until the commit.
    fn hold_link(&mut self, link_row: i64) -> Result<()> {
        self.query_one("SELECT id FROM link WHERE id = ?1 /*lock*/", &[link_row.into()], |_| {
            Ok(())
        })?;
        Ok(())
    }

    /// The first unfinished action of a destination.
    fn first_open(&mut self, link_row: i64, destination: &str) -> Result<Option<i64>> {
        self.query_one(
            "SELECT id FROM outbox WHERE link = ?1 AND destination = ?2 AND state IN (0, 1)
             ORDER BY id LIMIT 1",
            &[link_row.into(), destination.into()],
            |row| row.int(0),
        )
    }
}

fn outbox_row(row: &Row<'_>) -> Result<OutboxRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "outbox" };
    let at = |index| Ok::<_, StoreError>(row.opt_int(index)?.map(Timestamp::from_ms));
    let task = row.opt_blob(11)?.map(|task| TaskId::from_bytes(&task).ok_or(CORRUPT));
    Ok(OutboxRow {
        row: row.int(0)?,
        id: OutboxId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        link_row: row.int(3)?,
        destination: row.text(4)?,
        is_head: row.flag(5)?,
        action: row.text(6)?,
        action_hash: ActionHash(row.blob(7)?.try_into().map_err(|_| CORRUPT)?),
        buttons: row.opt_text(8)?,
        replaces: row.opt_text(9)?,
        thread_row: row.opt_int(10)?,
        task: task.transpose()?,
        agent: row.text(12)?,
        proposal: row.opt_int(13)?,
        state: OutboxState::from_code(row.int(14)?).ok_or(CORRUPT)?,
        parts_done: row.int(15)?,
        receipts: row.opt_text(16)?,
        attempts: row.int(17)?,
        due: Timestamp::from_ms(row.int(18)?),
        sending: row.flag(19)?,
        looks: row.int(20)?,
        holder: row.opt_text(21)?,
        lease: at(22)?,
        reason: row.opt_text(23)?,
        answer: row.opt_text(24)?,
        created: Timestamp::from_ms(row.int(25)?),
        ended: at(26)?,
    })
}
