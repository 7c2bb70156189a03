//! What an operator chooses about tools that agents call.

/// What an operator chooses about tools that agents call.
#[derive(Clone, Debug, Default)]
pub struct ToolSettings {}
