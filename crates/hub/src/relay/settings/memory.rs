//! What an operator chooses about what is remembered.

/// What an operator chooses about what is remembered.
#[derive(Clone, Debug, Default)]
pub struct MemorySettings {}
