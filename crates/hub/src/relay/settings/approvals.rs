//! What an operator chooses about what a human decides: rules, of which the first that fits decides.

use protocol::limits::relay as limits;

/// What an operator chooses about what a human decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalSettings {
    /// How people are asked where no rule says otherwise.
    pub asking: Asking,
    /// What becomes of actions; the first that fits decides, and without one a human is asked.
    pub rules: Vec<ApprovalRule>,
}

/// How people are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Who may decide: ids of people at the service where they are asked, and names of operators.
    pub approvers: Vec<String>,
    /// Where people are asked when an action's thread did not begin in a chat.
    pub ask_at: Option<AskPlace>,
    /// How long a proposal waits before it expires, in milliseconds.
    pub expires_ms: i64,
    /// How long until somebody is reminded, and again, in milliseconds.
    pub remind_ms: i64,
    /// How often somebody is reminded.
    pub reminders_max: i64,
    /// Where others are asked when nobody decided in time.
    pub escalate_at: Option<AskPlace>,
    /// Who may decide as well from then on.
    pub escalate_to: Vec<String>,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            approvers: Vec::new(),
            ask_at: None,
            expires_ms: limits::PROPOSAL_EXPIRES_MS,
            remind_ms: limits::PROPOSAL_REMIND_MS,
            reminders_max: limits::PROPOSAL_REMINDERS_MAX,
            escalate_at: None,
            escalate_to: Vec::new(),
        }
    }
}

/// A place at a service where people are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskPlace {
    /// The link, by name.
    pub link: String,
    /// The page of the channel there.
    pub url: String,
}

/// What becomes of some actions. What is `None` does not narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalRule {
    /// Only what goes through this link.
    pub link: Option<String>,
    /// Only what goes to this service: `github`.
    pub channel: Option<String>,
    /// Only what goes to such a place, with `*` for any run of characters.
    pub place: Option<String>,
    /// Only what this agent wants.
    pub agent: Option<String>,
    /// What becomes of it.
    pub verdict: Verdict,
    /// Whether allowing holds in threads with text from outside too.
    pub even_external: bool,
    /// How people are asked about it.
    pub asking: Asking,
}

/// What becomes of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// A human is asked.
    #[default]
    Ask,
    /// It leaves without one.
    Allow,
    /// It never leaves.
    Deny,
}
