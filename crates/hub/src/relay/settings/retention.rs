//! What an operator chooses about how long is kept what is over.

use protocol::limits::retention as limits;

/// What an operator chooses about how long is kept what is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionSettings {
    /// How long what came to a good end is kept, in milliseconds.
    pub finished_ms: i64,
    /// How long what was given up is kept, in milliseconds.
    pub dead_ms: i64,
    /// How long it is known what we posted ourselves, in milliseconds.
    pub posted_ms: i64,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            finished_ms: limits::FINISHED_MS,
            dead_ms: limits::DEAD_MS,
            posted_ms: limits::POSTED_MS,
        }
    }
}
