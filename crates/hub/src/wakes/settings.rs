//! What an operator chooses about waking agents.

use protocol::limits::wake as limits;
use protocol::wake::WakePolicy;

/// What an operator chooses about waking agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeSettings {
    /// Whether posts wake agents by themselves. Asking for a wake works either way.
    pub enabled: bool,
    /// How often a human who types is looked at again.
    pub recheck_ms: i64,
    /// How long a human must not have typed.
    pub quiet_ms: i64,
    /// How long a wake waits for a human at most.
    pub defer_ms_max: i64,
    /// How often one agent may be triggered by others, a minute.
    pub triggers_per_minute: u32,
    /// Wakes of an agent an hour, unless its policy says otherwise.
    pub per_hour_max: i64,
    /// Changes of speaker between agents without a human before posts stop waking an agent, unless its
    /// policy says otherwise; 0 for never.
    pub hops_max: i64,
    /// How long the token of a session lives.
    pub session_token_ms: i64,
    /// Attempts before a wake has failed for good.
    pub attempts_max: i64,
}

impl Default for WakeSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            recheck_ms: limits::WAKE_RECHECK_MS,
            quiet_ms: limits::WAKE_QUIET_MS,
            defer_ms_max: limits::WAKE_DEFER_MS_MAX,
            triggers_per_minute: limits::WAKE_TRIGGERS_PER_MINUTE,
            per_hour_max: limits::WAKE_PER_HOUR_MAX,
            hops_max: limits::WAKE_HOPS_MAX,
            session_token_ms: limits::SESSION_TOKEN_MS,
            attempts_max: limits::WAKE_ATTEMPTS_MAX,
        }
    }
}

impl WakeSettings {
    /// The policy of an agent for which nobody has set one.
    pub fn policy(&self) -> WakePolicy {
        WakePolicy {
            per_hour_max: self.per_hour_max,
            hops_max: self.hops_max,
            ..WakePolicy::default()
        }
    }
}
