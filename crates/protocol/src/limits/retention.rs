//! How long the hub keeps what is over. Units stand last in the name.

use std::time::Duration;

/// How long work that is done, actions that arrived, decided proposals and tools that answered are kept,
/// in milliseconds.
pub const FINISHED_MS: i64 = 30 * 24 * 3_600_000;
/// How long what was given up is kept, so that people can try it again, in milliseconds.
pub const DEAD_MS: i64 = 90 * 24 * 3_600_000;
/// How long it is known what we posted ourselves, in milliseconds: people answer beneath it late.
pub const POSTED_MS: i64 = 365 * 24 * 3_600_000;
/// How long it is known of a token that has ended what it was for, in milliseconds. This is more than
/// clocks may disagree about its end, so that a revocation outlives what it revokes.
pub const TOKENS_MS: i64 = 30 * 24 * 3_600_000;
/// How long a session is kept after it was last heard of, in milliseconds: it may still be resumed.
pub const AGENT_SESSION_MS: i64 = 90 * 24 * 3_600_000;
/// The longest that an operator may choose, in days.
pub const DAYS_MAX: i64 = 36_500;
/// How often what has been kept long enough is looked for.
pub const SWEEP_EVERY: Duration = Duration::from_mins(10);
/// Rows that one transaction of such a look goes through.
pub const SWEEP_MAX: usize = 200;
