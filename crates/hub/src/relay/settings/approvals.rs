//! What an operator chooses about what a human decides.

/// What an operator chooses about what a human decides.
#[derive(Clone, Debug, Default)]
pub struct ApprovalSettings {}
