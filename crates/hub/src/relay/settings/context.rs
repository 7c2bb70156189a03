//! What an operator chooses about what an agent is given for a turn.

use protocol::limits::tools as limits;

/// What an operator chooses about what an agent is given for a turn.
#[derive(Clone, Debug)]
pub struct ContextSettings {
    /// The system layer: policy and guardrails of this deployment. It is never cut.
    pub system: String,
    /// What a context may come to, in tokens.
    pub tokens_max: u64,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self { system: String::new(), tokens_max: limits::CONTEXT_TOKENS_DEFAULT }
    }
}
