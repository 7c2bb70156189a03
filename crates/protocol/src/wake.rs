//! Wakes: the life of an attempt to reach a sleeping agent, and who may be woken when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::wake as limits;

/// How far a wake has come. It only ever moves on, save that a failed attempt may begin again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WakeState {
    /// Asked for; no host has taken it yet.
    Requested,
    /// Waiting for a human to pause, a turn to end, or the time to try again.
    Deferred,
    /// The agent's program has the notice.
    HandedToHost,
    /// The agent's program has begun a turn because of it.
    TurnStarted,
    /// The agent has acknowledged what it was woken for.
    Read,
    /// Nothing worked.
    Failed,
    /// Somebody took it back, or it was no longer needed.
    Cancelled,
}

impl WakeState {
    /// Every state, in the order of a wake's life.
    pub const ALL: [Self; 7] = [
        Self::Requested,
        Self::Deferred,
        Self::HandedToHost,
        Self::TurnStarted,
        Self::Read,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Deferred => "deferred",
            Self::HandedToHost => "handed_to_host",
            Self::TurnStarted => "turn_started",
            Self::Read => "read",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The stored form.
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// Reads the stored form.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }

    /// Whether something is still to be done or heard.
    pub const fn is_open(self) -> bool {
        self.code() < Self::Read.code()
    }
}

impl std::fmt::Display for WakeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A way to reach a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WakeLane {
    /// Codex' app server.
    CodexSocket,
    /// `codex queue`.
    CodexQueue,
    /// `codex exec resume`.
    CodexResume,
    /// A new Codex session.
    CodexNew,
    /// A call of `wait_for_wake` beside Claude Code, whose end wakes it.
    ClaudeRewake,
    /// The standard input of a Claude Code process.
    ClaudeStream,
    /// `claude --resume`.
    ClaudeResume,
    /// A new Claude Code session.
    ClaudeNew,
    /// The keyboard of a terminal.
    Pty,
}

impl WakeLane {
    /// The name on the wire, which is also the stored form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CodexSocket => "codex_socket",
            Self::CodexQueue => "codex_queue",
            Self::CodexResume => "codex_resume",
            Self::CodexNew => "codex_new",
            Self::ClaudeRewake => "claude_rewake",
            Self::ClaudeStream => "claude_stream",
            Self::ClaudeResume => "claude_resume",
            Self::ClaudeNew => "claude_new",
            Self::Pty => "pty",
        }
    }
}

/// What wakes an agent without anybody asking for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WakeOn {
    /// Any message of somebody else in a thread it takes part in.
    Unread,
    /// A message that names it: `@agent`.
    Mention,
    /// A thread of it changes its status.
    Status,
}

impl WakeOn {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Mention => "mention",
            Self::Status => "status",
        }
    }
}

/// When a step that costs something may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Whenever a wake needs it.
    Always,
    /// Only when somebody called `trigger_participant`.
    WhenAsked,
    /// Not at all.
    Never,
}

/// A time of the day, for schemas.
const CLOCK_PATTERN: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$";

/// Hours of the day in which nothing wakes an agent by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// When they begin: `22:00`.
    #[schemars(regex(pattern = CLOCK_PATTERN))]
    pub from: String,
    /// When they end; before `from` it is the next day.
    #[schemars(regex(pattern = CLOCK_PATTERN))]
    pub to: String,
    /// The zone of both: `Europe/Berlin`.
    #[serde(default = "utc")]
    pub zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// Who is woken when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WakePolicy {
    /// Whether posts wake this agent at all.
    pub enabled: bool,
    /// What wakes it.
    #[schemars(length(max = 3))]
    pub on: Vec<WakeOn>,
    /// When nothing does; what comes then waits for the morning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
    /// Wakes an hour.
    #[schemars(range(min = 1, max = limits::WAKE_PER_HOUR_CEILING))]
    pub per_hour_max: i64,
    /// Changes of speaker between agents without a human before posts stop waking it; 0 for never.
    #[schemars(range(min = 0, max = limits::WAKE_HOPS_CEILING))]
    pub hops_max: i64,
    /// Whether a session that ended may be resumed.
    pub resume: Consent,
    /// Whether a new session may be started.
    pub new_session: Consent,
}

impl Default for WakePolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            on: vec![WakeOn::Unread, WakeOn::Mention, WakeOn::Status],
            quiet_hours: None,
            per_hour_max: limits::WAKE_PER_HOUR_MAX,
            hops_max: limits::WAKE_HOPS_MAX,
            resume: Consent::Always,
            new_session: Consent::WhenAsked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_their_stored_form() {
        for state in WakeState::ALL {
            assert_eq!(WakeState::from_code(state.code()), Some(state));
        }
        assert!(WakeState::TurnStarted.is_open() && !WakeState::Read.is_open());
    }

    #[test]
    fn lanes_are_called_the_same_in_every_place() {
        for lane in [WakeLane::CodexSocket, WakeLane::ClaudeRewake, WakeLane::Pty] {
            assert_eq!(serde_json::to_value(lane).unwrap(), lane.name());
        }
    }
}
