//! What an operator chooses about what an agent is given for a turn.

/// What an operator chooses about what an agent is given for a turn.
#[derive(Clone, Debug, Default)]
pub struct ContextSettings {}
