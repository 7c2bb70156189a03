//! What a host is told of a wake: whom to reach, what may be done for it, and what to say.

use protocol::limits::{UNREAD_COUNT_MAX, wake as limits};
use protocol::{SessionStatus, ThreadId, Timestamp, WakeId};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ProfileRow, SessionRow, Tx, WakeRow};

use super::notice::{self, Notice, NoticeFacts};
use super::reach::May;
use super::settings::WakeSettings;
use super::standing::Standing;
use crate::error::Result;
use crate::threads::rules;

/// Sessions of an agent that are looked at to find those of a host.
const SESSIONS_LOOKED_AT: usize = 50;

/// A wake, as a host takes it.
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the answer by itself")]
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WakeJob {
    /// The wake; every notice carries it.
    wake_id: WakeId,
    /// Which time it is given out; reports of another one count for nothing.
    attempt: i64,
    /// The workspace.
    workspace_id: String,
    /// The thread it is about.
    thread_id: ThreadId,
    /// The agent to be reached.
    agent_id: String,
    /// The lane that an attempt before was about to use when it broke off: look first whether it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    handing: Option<String>,
    /// The agent's sessions on this host, the best first.
    sessions: Vec<JobSession>,
    /// How to start a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<JobProfile>,
    /// What to say.
    notice: Notice,
    /// Whether a session that is proven to have ended may be resumed.
    may_resume: bool,
    /// Whether a new session may be started.
    may_start: bool,
    /// Whether an operator overrides the wait for a human.
    force: bool,
    /// Whether it fails at once when a human types.
    fail_on_human_input: bool,
    /// How to wait for a human.
    defer: JobDefer,
    /// What a new session is told first.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_session_preface: Option<String>,
    /// Until when it is this host's alone.
    lease_until: Timestamp,
}

/// A session, as its host knows it again.
#[derive(Debug, Serialize, JsonSchema)]
struct JobSession {
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor_session_id: Option<String>,
    runtime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid_started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_id: Option<String>,
    managed: bool,
    resumable: bool,
    /// What it last reported, however long ago.
    status: SessionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<String>,
}

/// How an agent is started.
#[derive(Debug, Serialize, JsonSchema)]
struct JobProfile {
    runtime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    command: Vec<String>,
}

/// How to wait for a human.
#[derive(Debug, Serialize, JsonSchema)]
struct JobDefer {
    /// How often to look again.
    recheck_ms: i64,
    /// How long nothing must have been typed.
    quiet_ms: i64,
    /// How long to wait at most.
    max_ms: i64,
    /// Since when it has been waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

/// Everything a host must know of a wake that it was given.
pub(super) fn of(
    tx: &mut Tx<'_>,
    wake: &WakeRow,
    host: &str,
    settings: &WakeSettings,
) -> Result<WakeJob> {
    let who = (wake.workspace.as_str(), wake.agent.as_str());
    let standing = Standing::find(tx, &settings.policy(), who, Some(wake.thread_row))?;
    let may = May::of(&standing.policy, wake.asked);
    let sessions = sessions_on(tx, wake, host)?;
    let profile = tx.profile(who.0, who.1)?.filter(|profile| profile.host == host);
    let new_session_preface = match profile {
        Some(_) if may.start => preface(tx, wake)?,
        _ => None,
    };
    Ok(WakeJob {
        wake_id: wake.id,
        attempt: wake.attempt,
        workspace_id: wake.workspace.clone(),
        thread_id: wake.thread_id,
        agent_id: wake.agent.clone(),
        handing: wake.handing.clone(),
        sessions: sessions.into_iter().map(JobSession::of).collect(),
        may_start: may.start && profile.is_some(),
        profile: profile.map(JobProfile::of),
        notice: notice_of(tx, wake)?,
        may_resume: may.resume,
        force: wake.force.is_some(),
        fail_on_human_input: wake.fail_on_human,
        defer: JobDefer {
            recheck_ms: settings.recheck_ms,
            quiet_ms: settings.quiet_ms,
            max_ms: settings.defer_ms_max,
            since: wake.deferred,
        },
        new_session_preface,
        lease_until: wake.lease.unwrap_or(wake.requested),
    })
}

/// The agent's sessions on a host, the best first. One to which the notice was being handed over is
/// always among them: only its own records tell whether it arrived.
fn sessions_on(tx: &mut Tx<'_>, wake: &WakeRow, host: &str) -> Result<Vec<SessionRow>> {
    let (workspace, agent) = (wake.workspace.as_str(), wake.agent.as_str());
    let is_here = |session: &SessionRow| session.host.as_deref() == Some(host);
    let all = tx.sessions_of(workspace, agent, SESSIONS_LOOKED_AT)?;
    let mut here: Vec<SessionRow> =
        all.into_iter().filter(is_here).take(limits::WAKE_SESSIONS_MAX).collect();
    let handing = wake.handing.as_ref().and(wake.session.as_deref());
    let missing = handing.filter(|name| here.iter().all(|session| session.session != **name));
    let missing = match missing {
        Some(name) => tx.session(workspace, agent, name)?.filter(is_here),
        None => None,
    };
    if let Some(session) = missing {
        here.truncate(limits::WAKE_SESSIONS_MAX - 1);
        here.push(session);
    }
    Ok(here)
}

/// What an agent is told by a wake.
pub(super) fn notice_of(tx: &mut Tx<'_>, wake: &WakeRow) -> Result<Notice> {
    let since_seq =
        tx.cursor(wake.thread_row, &wake.agent)?.map_or(0, |cursor| cursor.last_read_seq);
    let unread = tx.unread(wake.thread_row, since_seq, &wake.agent, UNREAD_COUNT_MAX)?;
    let asked_by = wake
        .prompt
        .as_deref()
        .map(|prompt| (wake.asked_role.as_str(), wake.asked_by.as_str(), prompt));
    Ok(notice::notice(&NoticeFacts {
        wake: wake.id,
        thread: wake.thread_id,
        agent: &wake.agent,
        unread,
        since_seq,
        asked_by,
    }))
}

fn preface(tx: &mut Tx<'_>, wake: &WakeRow) -> Result<Option<String>> {
    let Some(access) = tx.thread_by_row(wake.thread_row, &wake.agent)? else { return Ok(None) };
    let fold = rules::fold(tx, &access.thread)?;
    Ok(Some(notice::preface(&fold, access.thread.status)))
}

impl JobSession {
    fn of(row: SessionRow) -> Self {
        Self {
            session_id: row.session,
            vendor_session_id: row.vendor_session,
            runtime: row.runtime,
            runtime_version: row.runtime_version,
            cwd: row.cwd,
            pid: row.pid,
            pid_started: row.pid_started,
            boot_id: row.boot_id,
            managed: row.managed,
            resumable: row.resumable,
            status: row.status,
            transcript: row.transcript,
        }
    }
}

impl JobProfile {
    fn of(row: ProfileRow) -> Self {
        // The hub wrote it; what it cannot read starts the program without arguments.
        let command = serde_json::from_str(&row.command).unwrap_or_default();
        Self { runtime: row.runtime, cwd: row.cwd, command }
    }
}
