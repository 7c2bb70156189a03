//! The registry of agent sessions.

use protocol::{SessionStatus, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::{Param, Row};

/// A session as it last reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its workspace.
    pub workspace: String,
    /// The agent.
    pub agent: String,
    /// The session.
    pub session: String,
    /// The program it runs in.
    pub runtime: String,
    /// That program's version.
    pub runtime_version: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// Whether a supervisor of the hub owns the process.
    pub managed: bool,
    /// Whether it can be resumed.
    pub resumable: bool,
    /// What it reported.
    pub status: SessionStatus,
    /// When it last reported.
    pub heartbeat: Timestamp,
    /// The program's own name for it.
    pub vendor_session: Option<String>,
    /// The host it runs on.
    pub host: Option<String>,
    /// The process it runs in.
    pub pid: Option<i64>,
    /// When that process started, in ticks of its host.
    pub pid_started: Option<i64>,
    /// Which boot of the host that was.
    pub boot_id: Option<String>,
    /// Where the program writes down what is said.
    pub transcript: Option<String>,
    /// When its human last pressed a key.
    pub human: Option<Timestamp>,
    /// Whether something stands unsent in its line.
    pub has_draft: Option<bool>,
    /// Whether it asks its human something.
    pub has_dialog: Option<bool>,
    /// The call that waits beside it for a wake.
    pub parked_by: Option<String>,
    /// Until when.
    pub parked_until: Option<Timestamp>,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// The workspace.
    pub workspace: String,
    /// Only sessions of this agent; empty for all.
    pub agent: String,
    /// Only sessions that reported since then.
    pub since: Timestamp,
    /// Only sessions that have not said goodbye.
    pub present_only: bool,
    /// Only sessions after this place of an earlier page.
    pub after: Option<SessionPlace>,
    /// How many.
    pub limit: usize,
}

/// Where a session stands in a list of a workspace: when it last reported, its agent and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    /// When it last reported.
    pub heartbeat: Timestamp,
    /// The agent.
    pub agent: String,
    /// The session.
    pub session: String,
}

/// What a session is known by among all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionKey {
    /// Its workspace.
    pub workspace: String,
    /// The agent.
    pub agent: String,
    /// The session.
    pub session: String,
}

/// A few sessions, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPortion {
    /// The last of them.
    pub upto: SessionKey,
    /// Those of them that nobody needs any more.
    pub over: Vec<SessionKey>,
}

/// The columns of a session, in the order in which [`session_row`] reads them.
macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT workspace, agent, session, runtime, runtime_version, cwd, managed, resumable,
                    status, heartbeat_ms, vendor_session, host, pid, pid_started, boot_id,
                    transcript, human_ms, human_draft, dialog, parked_by, parked_ms
             FROM agent_session ",
            $rest
        )
    };
}

/// A session that was last heard of before a moment and that nobody needs: one stays while its agent is
/// being woken, and the one heard of last while its agent takes part in a thread that is not closed.
macro_rules! session_over {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM agent_session WHERE workspace = ?1 AND agent = ?2 AND session = ?3
               AND heartbeat_ms < ?4
               AND NOT EXISTS (SELECT 1 FROM wake w WHERE w.workspace = ?1 AND w.agent = ?2
                                 AND w.state < 4)
               AND (EXISTS (SELECT 1 FROM agent_session o WHERE o.workspace = ?1 AND o.agent = ?2
                              AND (o.heartbeat_ms > agent_session.heartbeat_ms
                                   OR (o.heartbeat_ms = agent_session.heartbeat_ms
                                       AND o.session > agent_session.session)))
                    OR NOT EXISTS (SELECT 1 FROM participant p JOIN thread t ON t.id = p.thread
                                   WHERE p.agent = ?2 AND t.workspace = ?1 AND t.status <> 3))"
        )
    };
}

pub(crate) const WALK_SESSIONS: &str =
    "SELECT workspace, agent, session, heartbeat_ms FROM agent_session
     WHERE (workspace, agent, session) > (?1, ?2, ?3)
     ORDER BY workspace, agent, session LIMIT ?4";
pub(crate) const IS_SESSION_OVER: &str = session_over!("SELECT 1");
pub(crate) const FORGET_SESSION: &str = session_over!("DELETE");

impl Tx<'_> {
    /// Records a report. What it leaves out stays as it was; who supervises is not its to say.
    pub fn record_heartbeat(&mut self, report: &SessionRow) -> Result<()> {
        self.execute(
            "INSERT INTO agent_session (workspace, agent, session, runtime, runtime_version, cwd,
                 managed, resumable, status, heartbeat_ms, vendor_session, host, pid, pid_started,
                 boot_id, transcript, human_ms, human_draft, dialog)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19)
             ON CONFLICT (workspace, agent, session) DO UPDATE SET runtime = excluded.runtime,
                 runtime_version = COALESCE(excluded.runtime_version, agent_session.runtime_version),
                 cwd = COALESCE(excluded.cwd, agent_session.cwd),
                 resumable = excluded.resumable, status = excluded.status,
                 heartbeat_ms = excluded.heartbeat_ms,
                 vendor_session = COALESCE(excluded.vendor_session, agent_session.vendor_session),
                 host = COALESCE(excluded.host, agent_session.host),
                 pid = COALESCE(excluded.pid, agent_session.pid),
                 pid_started = COALESCE(excluded.pid_started, agent_session.pid_started),
                 boot_id = COALESCE(excluded.boot_id, agent_session.boot_id),
                 transcript = COALESCE(excluded.transcript, agent_session.transcript),
                 human_ms = COALESCE(excluded.human_ms, agent_session.human_ms),
                 human_draft = COALESCE(excluded.human_draft, agent_session.human_draft),
                 dialog = COALESCE(excluded.dialog, agent_session.dialog)",
            &session_params(report),
        )?;
        Ok(())
    }

    /// Records that a supervisor of the hub opened a session. It is a new process: nothing that was
    /// known of an earlier one with this name holds.
    pub fn open_session(&mut self, session: &SessionRow) -> Result<()> {
        self.execute(
            "INSERT INTO agent_session (workspace, agent, session, runtime, runtime_version, cwd,
                 managed, resumable, status, heartbeat_ms, vendor_session, host, pid, pid_started,
                 boot_id, transcript, human_ms, human_draft, dialog)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19)
             ON CONFLICT (workspace, agent, session) DO UPDATE SET runtime = excluded.runtime,
                 runtime_version = COALESCE(excluded.runtime_version, agent_session.runtime_version),
                 cwd = COALESCE(excluded.cwd, agent_session.cwd), managed = excluded.managed,
                 resumable = excluded.resumable, status = excluded.status,
                 heartbeat_ms = excluded.heartbeat_ms,
                 vendor_session = COALESCE(excluded.vendor_session, agent_session.vendor_session),
                 host = excluded.host, pid = excluded.pid, pid_started = excluded.pid_started,
                 boot_id = excluded.boot_id,
                 transcript = COALESCE(excluded.transcript, agent_session.transcript),
                 human_ms = excluded.human_ms, human_draft = excluded.human_draft,
                 dialog = excluded.dialog",
            &session_params(session),
        )?;
        Ok(())
    }

    /// Sessions, the one heard of last first.
    pub fn sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let after = filter.after.as_ref();
        self.query(
            select_sessions!(
                "WHERE workspace = ?1 AND (?2 = '' OR agent = ?2) AND heartbeat_ms >= ?3
                   AND (CAST(?4 AS BIGINT) = 0 OR status <> 2)
                   AND (heartbeat_ms < ?5 OR (heartbeat_ms = ?5
                        AND (agent > ?6 OR (agent = ?6 AND session > ?7))))
                 ORDER BY heartbeat_ms DESC, agent, session LIMIT ?8"
            ),
            &[
                filter.workspace.as_str().into(),
                filter.agent.as_str().into(),
                filter.since.as_ms().into(),
                filter.present_only.into(),
                after.map_or(i64::MAX, |place| place.heartbeat.as_ms()).into(),
                after.map_or("", |place| place.agent.as_str()).into(),
                after.map_or("", |place| place.session.as_str()).into(),
                limit_param(filter.limit),
            ],
            session_row,
        )
    }

    /// The next few sessions after one in the order of their keys, with those that nobody needs and
    /// that were last heard of before a moment; `None` when there are no more.
    pub fn old_sessions(
        &mut self,
        after: &SessionKey,
        before: Timestamp,
        limit: usize,
    ) -> Result<Option<SessionPortion>> {
        let params = [
            after.workspace.as_str().into(),
            after.agent.as_str().into(),
            after.session.as_str().into(),
            limit_param(limit),
        ];
        let walked = self.query(WALK_SESSIONS, &params, |row| {
            let (workspace, agent, session) = (row.text(0)?, row.text(1)?, row.text(2)?);
            Ok((SessionKey { workspace, agent, session }, row.int(3)? < before.as_ms()))
        })?;
        let Some((upto, _)) = walked.last() else { return Ok(None) };
        let upto = upto.clone();
        let mut over = Vec::new();
        for (key, _) in walked.into_iter().filter(|(_, is_old)| *is_old) {
            let found = self.query_one(IS_SESSION_OVER, &over_params(&key, before), |_| Ok(()))?;
            if found.is_some() {
                over.push(key);
            }
        }
        Ok(Some(SessionPortion { upto, over }))
    }

    /// Forgets a session, if it is still so that nobody needs it; answers how many that were.
    pub fn forget_session(&mut self, key: &SessionKey, before: Timestamp) -> Result<u64> {
        self.execute(FORGET_SESSION, &over_params(key, before))
    }

    /// The sessions of an agent, the best to wake first: those that have not said goodbye, then the one
    /// heard of last.
    pub fn sessions_of(
        &mut self,
        workspace: &str,
        agent: &str,
        limit: usize,
    ) -> Result<Vec<SessionRow>> {
        self.query(
            select_sessions!(
                "WHERE workspace = ?1 AND agent = ?2
                 ORDER BY CASE WHEN status = 2 THEN 1 ELSE 0 END, heartbeat_ms DESC, session
                 LIMIT ?3"
            ),
            &[workspace.into(), agent.into(), limit_param(limit)],
            session_row,
        )
    }

    /// One session of an agent.
    pub fn session(
        &mut self,
        workspace: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<SessionRow>> {
        self.query_one(
            select_sessions!("WHERE workspace = ?1 AND agent = ?2 AND session = ?3"),
            &[workspace.into(), agent.into(), session.into()],
            session_row,
        )
    }

    /// The session of an agent that its program calls so, the one heard of last.
    pub fn session_of_vendor(
        &mut self,
        workspace: &str,
        agent: &str,
        vendor_session: &str,
    ) -> Result<Option<SessionRow>> {
        self.query_one(
            select_sessions!(
                "WHERE workspace = ?1 AND agent = ?2 AND vendor_session = ?3
                 ORDER BY heartbeat_ms DESC, session LIMIT 1"
            ),
            &[workspace.into(), agent.into(), vendor_session.into()],
            session_row,
        )
    }

    /// Remembers that a call waits beside a session; an older one is superseded.
    pub fn park_session(
        &mut self,
        (workspace, agent, session): (&str, &str, &str),
        by: &str,
        until: Timestamp,
    ) -> Result<()> {
        self.execute(
            "UPDATE agent_session SET parked_by = ?4, parked_ms = ?5
             WHERE workspace = ?1 AND agent = ?2 AND session = ?3",
            &[workspace.into(), agent.into(), session.into(), by.into(), until.as_ms().into()],
        )?;
        Ok(())
    }

    /// Forgets that a call waits beside a session, unless another one does by now.
    pub fn unpark_session(
        &mut self,
        (workspace, agent, session): (&str, &str, &str),
        by: &str,
    ) -> Result<()> {
        self.execute(
            "UPDATE agent_session SET parked_by = NULL, parked_ms = NULL
             WHERE workspace = ?1 AND agent = ?2 AND session = ?3 AND parked_by = ?4",
            &[workspace.into(), agent.into(), session.into(), by.into()],
        )?;
        Ok(())
    }

    /// How many messages of others an agent has not acknowledged in all its threads, counted up to a
    /// limit.
    pub fn unread_of(&mut self, workspace: &str, agent: &str, limit: i64) -> Result<i64> {
        let counted = self.query_one(
            "SELECT count(*) FROM (SELECT 1 AS one FROM participant p
                 JOIN thread t ON t.id = p.thread
                 LEFT JOIN read_cursor c ON c.thread = t.id AND c.agent = ?2
                 JOIN message m ON m.thread = t.id AND m.seq > COALESCE(c.last_read_seq, 0)
                      AND m.sender <> ?2
                 WHERE p.agent = ?2 AND t.workspace = ?1 LIMIT ?3) AS unread",
            &[workspace.into(), agent.into(), limit.into()],
            |row| row.int(0),
        )?;
        Ok(counted.unwrap_or(0))
    }
}

fn over_params(key: &SessionKey, before: Timestamp) -> [Param<'_>; 4] {
    [
        key.workspace.as_str().into(),
        key.agent.as_str().into(),
        key.session.as_str().into(),
        before.as_ms().into(),
    ]
}

fn session_params(session: &SessionRow) -> [Param<'_>; 19] {
    [
        session.workspace.as_str().into(),
        session.agent.as_str().into(),
        session.session.as_str().into(),
        session.runtime.as_str().into(),
        session.runtime_version.as_deref().into(),
        session.cwd.as_deref().into(),
        session.managed.into(),
        session.resumable.into(),
        status_code(session.status).into(),
        session.heartbeat.as_ms().into(),
        session.vendor_session.as_deref().into(),
        session.host.as_deref().into(),
        session.pid.into(),
        session.pid_started.into(),
        session.boot_id.as_deref().into(),
        session.transcript.as_deref().into(),
        session.human.map(Timestamp::as_ms).into(),
        session.has_draft.into(),
        session.has_dialog.into(),
    ]
}

fn status_code(status: SessionStatus) -> i64 {
    match status {
        SessionStatus::Active => 0,
        SessionStatus::Idle => 1,
        SessionStatus::Offline => 2,
    }
}

fn session_row(row: &Row<'_>) -> Result<SessionRow> {
    let flag = |index| Ok::<_, StoreError>(row.opt_int(index)?.map(|value| value != 0));
    Ok(SessionRow {
        workspace: row.text(0)?,
        agent: row.text(1)?,
        session: row.text(2)?,
        runtime: row.text(3)?,
        runtime_version: row.opt_text(4)?,
        cwd: row.opt_text(5)?,
        managed: row.int(6)? != 0,
        resumable: row.int(7)? != 0,
        status: match row.int(8)? {
            0 => SessionStatus::Active,
            1 => SessionStatus::Idle,
            2 => SessionStatus::Offline,
            _ => return Err(StoreError::Corrupt { what: "session status" }),
        },
        heartbeat: Timestamp::from_ms(row.int(9)?),
        vendor_session: row.opt_text(10)?,
        host: row.opt_text(11)?,
        pid: row.opt_int(12)?,
        pid_started: row.opt_int(13)?,
        boot_id: row.opt_text(14)?,
        transcript: row.opt_text(15)?,
        human: row.opt_int(16)?.map(Timestamp::from_ms),
        has_draft: flag(17)?,
        has_dialog: flag(18)?,
        parked_by: row.opt_text(19)?,
        parked_until: row.opt_int(20)?.map(Timestamp::from_ms),
    })
}
