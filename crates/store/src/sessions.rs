//! The registry of agent sessions.

use protocol::{SessionStatus, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

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
    /// How many.
    pub limit: usize,
}

impl Tx<'_> {
    /// Records a report. What it leaves out stays as it was; who supervises is not its to say.
    pub fn record_heartbeat(&mut self, report: &SessionRow) -> Result<()> {
        self.execute(
            "INSERT INTO agent_session (workspace, agent, session, runtime, runtime_version, cwd,
                 managed, resumable, status, heartbeat_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (workspace, agent, session) DO UPDATE SET runtime = excluded.runtime,
                 runtime_version = COALESCE(excluded.runtime_version, agent_session.runtime_version),
                 cwd = COALESCE(excluded.cwd, agent_session.cwd),
                 resumable = excluded.resumable, status = excluded.status,
                 heartbeat_ms = excluded.heartbeat_ms",
            &[
                report.workspace.as_str().into(),
                report.agent.as_str().into(),
                report.session.as_str().into(),
                report.runtime.as_str().into(),
                report.runtime_version.as_deref().into(),
                report.cwd.as_deref().into(),
                report.managed.into(),
                report.resumable.into(),
                status_code(report.status).into(),
                report.heartbeat.as_ms().into(),
            ],
        )?;
        Ok(())
    }

    /// Sessions, the one heard of last first.
    pub fn sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        self.query(
            "SELECT workspace, agent, session, runtime, runtime_version, cwd, managed, resumable,
                    status, heartbeat_ms
             FROM agent_session
             WHERE workspace = ?1 AND (?2 = '' OR agent = ?2) AND heartbeat_ms >= ?3
             ORDER BY heartbeat_ms DESC, agent, session LIMIT ?4",
            &[
                filter.workspace.as_str().into(),
                filter.agent.as_str().into(),
                filter.since.as_ms().into(),
                limit_param(filter.limit),
            ],
            session_row,
        )
    }
}

fn status_code(status: SessionStatus) -> i64 {
    match status {
        SessionStatus::Active => 0,
        SessionStatus::Idle => 1,
        SessionStatus::Offline => 2,
    }
}

fn session_row(row: &Row<'_>) -> Result<SessionRow> {
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
    })
}
