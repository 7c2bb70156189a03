//! Wakes: attempts to reach an agent about a thread. At most one is open for each pair of both.

use protocol::{ThreadId, Timestamp, WakeId, WakeState};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::{Param, Row};

/// A wake as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeRow {
    /// Its row number; 0 before it is stored.
    pub row: i64,
    /// Its id.
    pub id: WakeId,
    /// Its workspace.
    pub workspace: String,
    /// The thread's row.
    pub thread_row: i64,
    /// The thread.
    pub thread_id: ThreadId,
    /// The agent to be reached.
    pub agent: String,
    /// How far it has come.
    pub state: WakeState,
    /// What it is for.
    pub reason: String,
    /// Whether somebody asked for it; otherwise a post did.
    pub asked: bool,
    /// Who asked; empty where nobody did.
    pub asked_by: String,
    /// That one's role.
    pub asked_role: String,
    /// That one's own words, cleaned.
    pub prompt: Option<String>,
    /// What an operator overrides, and why: JSON.
    pub force: Option<String>,
    /// Whether it fails at once when a human types.
    pub fail_on_human: bool,
    /// The newest message it is about.
    pub through_seq: i64,
    /// The newest message that came after the agent had been told, and asks for another wake.
    pub again_seq: Option<i64>,
    /// When it was asked for.
    pub requested: Timestamp,
    /// Not before then.
    pub due: Timestamp,
    /// How often it was given out.
    pub attempt: i64,
    /// How often that came to nothing.
    pub failures: i64,
    /// The host that has it, or had it last.
    pub host: Option<String>,
    /// Until when nobody else gets it.
    pub lease: Option<Timestamp>,
    /// The session it was handed to.
    pub session: Option<String>,
    /// The lane it took.
    pub lane: Option<String>,
    /// The lane that was about to be touched when its host last wrote.
    pub handing: Option<String>,
    /// Why it waits, failed or ended.
    pub why: Option<String>,
    /// Since when a human keeps it waiting.
    pub deferred: Option<Timestamp>,
    /// When the agent's program got the notice.
    pub handed: Option<Timestamp>,
    /// When a turn began because of it.
    pub turn: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// Which wakes to list. Empty text and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct WakeFilter {
    /// The workspace.
    pub workspace: String,
    /// Only wakes about threads this agent may enter; empty for all.
    pub member: String,
    /// Only wakes of this agent; empty for all.
    pub agent: String,
    /// Only wakes about this thread.
    pub thread_row: Option<i64>,
    /// Only wakes that have come so far.
    pub state: Option<WakeState>,
    /// Only wakes that have not ended.
    pub open_only: bool,
    /// Only wakes before this row of an earlier page.
    pub before: Option<i64>,
    /// How many.
    pub limit: usize,
}

/// The columns of a wake, in the order in which [`wake_row`] reads them.
macro_rules! select_wakes {
    ($rest:literal) => {
        concat!(
            "SELECT w.id, w.uid, w.workspace, w.thread,
                    (SELECT t.uid FROM thread t WHERE t.id = w.thread), w.agent, w.state, w.reason,
                    w.asked, w.asked_by, w.asked_role, w.prompt, w.force, w.fail_on_human,
                    w.through_seq, w.again_seq, w.requested_ms, w.due_ms, w.attempt, w.failures,
                    w.host, w.lease_ms, w.session, w.lane, w.handing, w.why, w.deferred_ms,
                    w.handed_ms, w.turn_ms, w.ended_ms
             FROM wake w ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Stores a new wake; `false` while another one about the same thread and agent is open.
    pub fn insert_wake(&mut self, wake: &WakeRow) -> Result<bool> {
        let inserted = self.execute(
            "INSERT INTO wake (uid, workspace, thread, agent, state, reason, asked, asked_by,
                 asked_role, prompt, force, fail_on_human, through_seq, again_seq, requested_ms,
                 due_ms, why, attempt, failures)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 0, 0)
             ON CONFLICT (thread, agent) WHERE state < 4 DO NOTHING",
            &[
                wake.id.as_bytes().into(),
                wake.workspace.as_str().into(),
                wake.thread_row.into(),
                wake.agent.as_str().into(),
                wake.state.code().into(),
                wake.reason.as_str().into(),
                wake.asked.into(),
                wake.asked_by.as_str().into(),
                wake.asked_role.as_str().into(),
                wake.prompt.as_deref().into(),
                wake.force.as_deref().into(),
                wake.fail_on_human.into(),
                wake.through_seq.into(),
                wake.again_seq.into(),
                wake.requested.as_ms().into(),
                wake.due.as_ms().into(),
                wake.why.as_deref().into(),
            ],
        )?;
        Ok(inserted > 0)
    }

    /// Writes back what can change of a wake.
    pub fn update_wake(&mut self, wake: &WakeRow) -> Result<()> {
        let ms = |at: Option<Timestamp>| Param::from(at.map(Timestamp::as_ms));
        self.execute(
            "UPDATE wake SET state = ?2, reason = ?3, asked = ?4, asked_by = ?5, asked_role = ?6,
                 prompt = ?7, force = ?8, fail_on_human = ?9, through_seq = ?10, again_seq = ?11,
                 due_ms = ?12, attempt = ?13, failures = ?14, host = ?15, lease_ms = ?16,
                 session = ?17, lane = ?18, handing = ?19, why = ?20, deferred_ms = ?21,
                 handed_ms = ?22, turn_ms = ?23, ended_ms = ?24
             WHERE id = ?1",
            &[
                wake.row.into(),
                wake.state.code().into(),
                wake.reason.as_str().into(),
                wake.asked.into(),
                wake.asked_by.as_str().into(),
                wake.asked_role.as_str().into(),
                wake.prompt.as_deref().into(),
                wake.force.as_deref().into(),
                wake.fail_on_human.into(),
                wake.through_seq.into(),
                wake.again_seq.into(),
                wake.due.as_ms().into(),
                wake.attempt.into(),
                wake.failures.into(),
                wake.host.as_deref().into(),
                ms(wake.lease),
                wake.session.as_deref().into(),
                wake.lane.as_deref().into(),
                wake.handing.as_deref().into(),
                wake.why.as_deref().into(),
                ms(wake.deferred),
                ms(wake.handed),
                ms(wake.turn),
                ms(wake.ended),
            ],
        )?;
        Ok(())
    }

    /// A wake by its id.
    pub fn wake(&mut self, id: WakeId) -> Result<Option<WakeRow>> {
        let sql = select_wakes!("WHERE w.uid = ?1");
        self.query_one(sql, &[id.as_bytes().into()], wake_row)
    }

    /// The same, and nobody else may change it until the commit.
    pub fn lock_wake(&mut self, id: WakeId) -> Result<Option<WakeRow>> {
        let sql = select_wakes!("WHERE w.uid = ?1 /*lock*/");
        self.query_one(sql, &[id.as_bytes().into()], wake_row)
    }

    /// The open wake of an agent about a thread; nobody else may change it until the commit.
    pub fn lock_open_wake(&mut self, thread_row: i64, agent: &str) -> Result<Option<WakeRow>> {
        self.query_one(
            select_wakes!("WHERE w.thread = ?1 AND w.agent = ?2 AND w.state < 4 /*lock*/"),
            &[thread_row.into(), agent.into()],
            wake_row,
        )
    }

    /// The open wakes about a thread; nobody else may change them until the commit.
    pub fn lock_open_wakes_about(&mut self, thread_row: i64, limit: usize) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!("WHERE w.thread = ?1 AND w.state < 4 ORDER BY w.id LIMIT ?2 /*lock*/"),
            &[thread_row.into(), limit_param(limit)],
            wake_row,
        )
    }

    /// The open wakes of an agent, the oldest first; nobody else may change them until the commit.
    pub fn lock_open_wakes_of(
        &mut self,
        workspace: &str,
        agent: &str,
        limit: usize,
    ) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!(
                "WHERE w.workspace = ?1 AND w.agent = ?2 AND w.state < 4 ORDER BY w.id
                 LIMIT ?3 /*lock*/"
            ),
            &[workspace.into(), agent.into(), limit_param(limit)],
            wake_row,
        )
    }

    /// Takes back what a host has and has not handed over: it was started anew and knows nothing of it.
    pub fn release_wakes(&mut self, workspace: &str, host: &str) -> Result<u64> {
        self.execute(
            "UPDATE wake SET lease_ms = NULL
             WHERE workspace = ?1 AND host = ?2 AND state < 2 AND lease_ms IS NOT NULL",
            &[workspace.into(), host.into()],
        )
    }

    /// Wakes that a host may take now: they are due, nobody has them, their agent was last seen on that
    /// host or is started there, and no call waits beside it. One that was about to be handed over
    /// stays with the host that can say whether it was, until `handing_before`.
    pub fn lock_claimable_wakes(
        &mut self,
        workspace: &str,
        host: &str,
        (now, handing_before): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!(
                "WHERE w.workspace = ?1 AND w.state < 2 AND w.due_ms <= ?3
                   AND (w.lease_ms IS NULL OR w.lease_ms <= ?3)
                   AND (w.handing IS NULL OR w.host = ?2 OR w.lease_ms <= ?4)
                   AND (w.handing IS NOT NULL OR NOT EXISTS (SELECT 1 FROM agent_session s
                        WHERE s.workspace = w.workspace AND s.agent = w.agent
                          AND s.parked_ms > ?3))
                   AND ((w.handing IS NOT NULL AND w.host = ?2) OR ?2 = COALESCE(
                        (SELECT s.host FROM agent_session s
                         WHERE s.workspace = w.workspace AND s.agent = w.agent
                           AND s.host IS NOT NULL
                         ORDER BY CASE WHEN s.status = 2 THEN 1 ELSE 0 END, s.heartbeat_ms DESC,
                                  s.session LIMIT 1),
                        (SELECT p.host FROM agent_profile p
                         WHERE p.workspace = w.workspace AND p.agent = w.agent)))
                 ORDER BY w.due_ms, w.id LIMIT ?5 /*lock*/"
            ),
            &[
                workspace.into(),
                host.into(),
                now.as_ms().into(),
                handing_before.as_ms().into(),
                limit_param(limit),
            ],
            wake_row,
        )
    }

    /// The wake that a call which waits beside a session may take now: it is due, nobody has it, and no
    /// host was about to hand it over. Or one that an earlier call beside it was given and did not pass
    /// on: nothing was heard of the session since.
    pub fn lock_wake_for_waiter(
        &mut self,
        (workspace, agent, session): (&str, &str, &str),
        lane: &str,
        (now, given_before): (Timestamp, Timestamp),
    ) -> Result<Option<WakeRow>> {
        self.query_one(
            select_wakes!(
                "WHERE w.workspace = ?1 AND w.agent = ?2 AND w.state < 3
                   AND ((w.state < 2 AND w.handing IS NULL AND w.due_ms <= ?4
                         AND (w.lease_ms IS NULL OR w.lease_ms <= ?4))
                        OR (w.state = 2 AND w.lane = ?6 AND w.session = ?3 AND w.handed_ms <= ?5
                            AND EXISTS (SELECT 1 FROM agent_session s
                                WHERE s.workspace = w.workspace AND s.agent = w.agent
                                  AND s.session = w.session AND s.heartbeat_ms < w.handed_ms)))
                 ORDER BY w.due_ms, w.id LIMIT 1 /*lock*/"
            ),
            &[
                workspace.into(),
                agent.into(),
                session.into(),
                now.as_ms().into(),
                given_before.as_ms().into(),
                lane.into(),
            ],
            wake_row,
        )
    }

    /// Wakes that were handed to a waiting call on a host before a moment and have not been heard of
    /// since.
    pub fn lock_stray_wakes(
        &mut self,
        workspace: &str,
        host: &str,
        lane: &str,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!(
                "WHERE w.workspace = ?1 AND w.state = 2 AND w.lane = ?3 AND w.handed_ms <= ?4
                   AND EXISTS (SELECT 1 FROM agent_session s
                        WHERE s.workspace = w.workspace AND s.agent = w.agent
                          AND s.session = w.session AND s.host = ?2 AND s.status <> 0)
                 ORDER BY w.id LIMIT ?5 /*lock*/"
            ),
            &[
                workspace.into(),
                host.into(),
                lane.into(),
                before.as_ms().into(),
                limit_param(limit),
            ],
            wake_row,
        )
    }

    /// Wakes whose agent was told before a moment, has not acknowledged it, and has more to read.
    pub fn lock_told_wakes(
        &mut self,
        workspace: &str,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!(
                "WHERE w.workspace = ?1 AND w.state IN (2, 3) AND w.again_seq IS NOT NULL
                   AND COALESCE(w.turn_ms, w.handed_ms) <= ?2
                 ORDER BY w.id LIMIT ?3 /*lock*/"
            ),
            &[workspace.into(), before.as_ms().into(), limit_param(limit)],
            wake_row,
        )
    }

    /// When the next wake of a workspace can be given out that cannot be now; of one agent, or of all
    /// where its name is empty.
    pub fn next_wake_due(
        &mut self,
        workspace: &str,
        agent: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let next = self.query_one(
            "SELECT min(CASE WHEN lease_ms > due_ms THEN lease_ms ELSE due_ms END) FROM wake
             WHERE workspace = ?1 AND (?2 = '' OR agent = ?2) AND state < 2
               AND (due_ms > ?3 OR lease_ms > ?3)",
            &[workspace.into(), agent.into(), now.as_ms().into()],
            |row| row.opt_int(0),
        )?;
        Ok(next.flatten().map(Timestamp::from_ms))
    }

    /// Whether a host or a waiting call could take anything now.
    pub fn is_any_wake_due(
        &mut self,
        workspace: &str,
        agent: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM wake
             WHERE workspace = ?1 AND (?2 = '' OR agent = ?2) AND state < 3
               AND (state = 2 OR (due_ms <= ?3 AND (lease_ms IS NULL OR lease_ms <= ?3)))
             LIMIT 1",
            &[workspace.into(), agent.into(), now.as_ms().into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// The lane on which a session of an agent was last woken.
    pub fn last_lane(
        &mut self,
        workspace: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<String>> {
        // The inner limit keeps an agent with a long history from being read through each time.
        self.query_one(
            "SELECT lane FROM (SELECT id, lane, session FROM wake
                 WHERE workspace = ?1 AND agent = ?2 ORDER BY id DESC LIMIT 100) AS newest
             WHERE session = ?3 AND lane IS NOT NULL ORDER BY id DESC LIMIT 1",
            &[workspace.into(), agent.into(), session.into()],
            |row| row.text(0),
        )
    }

    /// A page of wakes, the newest first.
    pub fn wakes(&mut self, filter: &WakeFilter) -> Result<Vec<WakeRow>> {
        self.query(
            select_wakes!(
                "WHERE w.workspace = ?1
                   AND (?2 = '' OR w.thread IN (SELECT p.thread FROM participant p WHERE p.agent = ?2))
                   AND (?3 = '' OR w.agent = ?3)
                   AND (CAST(?4 AS BIGINT) < 0 OR w.thread = ?4)
                   AND (CAST(?5 AS BIGINT) < 0 OR w.state = ?5)
                   AND (CAST(?6 AS BIGINT) = 0 OR w.state < 4)
                   AND w.id < ?7
                 ORDER BY w.id DESC LIMIT ?8"
            ),
            &[
                filter.workspace.as_str().into(),
                filter.member.as_str().into(),
                filter.agent.as_str().into(),
                filter.thread_row.unwrap_or(-1).into(),
                filter.state.map_or(-1, WakeState::code).into(),
                filter.open_only.into(),
                filter.before.unwrap_or(i64::MAX).into(),
                limit_param(filter.limit),
            ],
            wake_row,
        )
    }
}

fn wake_row(row: &Row<'_>) -> Result<WakeRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "wake" };
    let at = |index| Ok::<_, StoreError>(row.opt_int(index)?.map(Timestamp::from_ms));
    Ok(WakeRow {
        row: row.int(0)?,
        id: WakeId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        thread_row: row.int(3)?,
        thread_id: ThreadId::from_bytes(&row.blob(4)?).ok_or(CORRUPT)?,
        agent: row.text(5)?,
        state: WakeState::from_code(row.int(6)?).ok_or(CORRUPT)?,
        reason: row.text(7)?,
        asked: row.int(8)? != 0,
        asked_by: row.text(9)?,
        asked_role: row.text(10)?,
        prompt: row.opt_text(11)?,
        force: row.opt_text(12)?,
        fail_on_human: row.int(13)? != 0,
        through_seq: row.int(14)?,
        again_seq: row.opt_int(15)?,
        requested: Timestamp::from_ms(row.int(16)?),
        due: Timestamp::from_ms(row.int(17)?),
        attempt: row.int(18)?,
        failures: row.int(19)?,
        host: row.opt_text(20)?,
        lease: at(21)?,
        session: row.opt_text(22)?,
        lane: row.opt_text(23)?,
        handing: row.opt_text(24)?,
        why: row.opt_text(25)?,
        deferred: at(26)?,
        handed: at(27)?,
        turn: at(28)?,
        ended: at(29)?,
    })
}
