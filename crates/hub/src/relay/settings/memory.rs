//! What an operator chooses about what is remembered.

use crate::memory::score::ScoreSettings;

/// What an operator chooses about what is remembered.
#[derive(Clone, Debug, Default)]
pub struct MemorySettings {
    /// How relevance and recency are weighed.
    pub score: ScoreSettings,
}
