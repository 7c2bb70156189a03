//! What an operator chooses about sending to services.

/// What an operator chooses about sending to services.
#[derive(Clone, Debug, Default)]
pub struct OutboxSettings {}
