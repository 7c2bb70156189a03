//! How an agent could be reached, as far as the registry knows. Whether a process lives is for its host
//! to prove; nothing here takes an old report for a death.

use protocol::wake::WakePolicy;
use protocol::{SessionStatus, ThreadId, Timestamp, WakeState};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ProfileRow, SessionRow, Tx, WakeRow};

use super::life::HUMAN;
use super::policy::consents;
use super::settings::WakeSettings;
use crate::error::{Error, Result};

/// Sessions of an agent that are looked at.
const SESSIONS_MAX: usize = 20;

/// What is done to reach an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Its live session is told.
    TriggerRuntime,
    /// A session that ended is resumed.
    ResumeSession,
    /// A new session is started.
    NewSession,
    /// Nothing: there is nothing unread.
    None,
}

/// What is known of an agent.
pub(crate) struct Reach {
    /// Its sessions, the best to wake first.
    pub(crate) sessions: Vec<SessionRow>,
    /// How it was last started.
    pub(crate) profile: Option<ProfileRow>,
}

/// Which steps that cost something may be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct May {
    /// Resume a session that ended.
    pub(crate) resume: bool,
    /// Start a new one.
    pub(crate) start: bool,
}

impl May {
    /// What a policy allows for a wake that somebody asked for, or that a post brought about.
    pub(crate) fn of(policy: &WakePolicy, asked: bool) -> Self {
        Self { resume: consents(policy.resume, asked), start: consents(policy.new_session, asked) }
    }
}

impl Reach {
    /// Looks an agent up.
    pub(crate) fn of(tx: &mut Tx<'_>, workspace: &str, agent: &str) -> Result<Self> {
        Ok(Self {
            sessions: tx.sessions_of(workspace, agent, SESSIONS_MAX)?,
            profile: tx.profile(workspace, agent)?,
        })
    }

    /// The steps that could reach it, the first to be tried first; `fresh_since` says how old a report
    /// of a live session may be.
    pub(crate) fn steps(&self, may: May, now: Timestamp, fresh_since: Timestamp) -> Vec<Action> {
        let is_live = |session: &SessionRow| {
            let is_fresh =
                session.status != SessionStatus::Offline && session.heartbeat >= fresh_since;
            is_parked(session, now) || (is_fresh && session.host.is_some())
        };
        let is_resumable = |session: &SessionRow| {
            may.resume
                && session.resumable
                && session.host.is_some()
                && session.vendor_session.is_some()
        };
        let mut steps = Vec::new();
        if self.sessions.iter().any(is_live) {
            steps.push(Action::TriggerRuntime);
        }
        if self.sessions.iter().any(is_resumable) {
            steps.push(Action::ResumeSession);
        }
        if may.start && self.profile.is_some() {
            steps.push(Action::NewSession);
        }
        // Its host may know more than the registry does.
        if steps.is_empty() && self.sessions.iter().any(|session| session.host.is_some()) {
            steps.push(Action::TriggerRuntime);
        }
        steps
    }

    /// Why an agent without any step cannot be reached.
    pub(crate) fn no_way(&self, agent: &str) -> Error {
        if !self.sessions.is_empty() && self.sessions.iter().all(|session| !session.managed) {
            return Error::UnmanagedRuntime { agent: agent.to_owned() };
        }
        Error::WakeFailed {
            reason: format!("{agent} was never seen here; there is nothing to wake"),
        }
    }

    /// The session that would be told.
    pub(crate) fn target(&self) -> Option<&SessionRow> {
        self.sessions.first()
    }

    /// The command that would resume it, for people to read. It is never run: a host builds its own.
    pub(crate) fn runtime_command(&self, thread: ThreadId) -> Option<String> {
        let session = self.sessions.iter().find(|session| session.vendor_session.is_some())?;
        let vendor = session.vendor_session.as_deref()?;
        let prompt = format!("You have unread messages in thread {thread}…");
        match session.runtime.as_str() {
            "codex_cli" => Some(format!("codex exec resume {vendor} \"{prompt}\"")),
            "claude_code" => Some(format!("claude -p --resume {vendor} \"{prompt}\"")),
            _ => None,
        }
    }
}

/// Whether a call waits beside a session for a wake.
pub(crate) fn is_parked(session: &SessionRow, now: Timestamp) -> bool {
    session.parked_until.is_some_and(|until| until > now)
}

/// Whether a human is at the session's keyboard: something stands unsent, a question is open, or a key
/// was pressed a moment ago.
pub(crate) fn is_human_busy(session: &SessionRow, settings: &WakeSettings, now: Timestamp) -> bool {
    let is_recent = |key: Timestamp| key.plus_ms(settings.quiet_ms) > now;
    session.has_draft == Some(true)
        || session.has_dialog == Some(true)
        || session.human.is_some_and(is_recent)
}

/// What was done about a wake, told from the lane it took.
pub(crate) fn action_of(wake: &WakeRow) -> Option<Action> {
    let lane = wake.lane.as_deref().or(wake.handing.as_deref())?;
    Some(match lane {
        "codex_resume" | "claude_resume" => Action::ResumeSession,
        "codex_new" | "claude_new" => Action::NewSession,
        _ => Action::TriggerRuntime,
    })
}

/// Whether a wake failed because of its human.
pub(crate) fn failed_by_human(wake: &WakeRow) -> bool {
    wake.state == WakeState::Failed && wake.why.as_deref() == Some(HUMAN)
}
