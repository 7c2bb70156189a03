//! The maximums of the session layer: where it is kept beside the store, and how a model writes it.
//! Units stand last in the name.

use std::time::Duration;

/// How long a keeper beside the store may take to answer before a turn goes on without it.
pub const SESSION_KEEPER_TIMEOUT: Duration = Duration::from_millis(250);
/// How long it may take to be connected, which no turn waits for.
pub const SESSION_KEEPER_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often one that is away is looked for.
pub const SESSION_KEEPER_LOOK_EVERY: Duration = Duration::from_secs(1);
/// A layer as it is kept there, as JSON.
pub const SESSION_KEPT_BYTES_MAX: usize = 32 * 1024;
/// Threads whose layers wait to be kept there; what would be one more is made again when needed.
pub const SESSION_KEEPS_WAITING_MAX: usize = 256;

/// Threads that wait for a model's summary; what would be one more is asked for in a later turn.
pub const SESSION_SUMMARIES_WAITING_MAX: usize = 64;
/// Summaries that a model is asked for at the same time, each of another thread.
pub const SESSION_SUMMARIES_IN_FLIGHT_MAX: usize = 2;
/// How long a model may take for one, whatever its own limit says.
pub const SESSION_SUMMARY_TIMEOUT: Duration = Duration::from_mins(2);
/// How long a thread is left alone after a model failed it, in milliseconds.
pub const SESSION_SUMMARY_PAUSE_MS: i64 = 60_000;
/// Threads that are left alone at the same time.
pub const SESSION_SUMMARY_PAUSES_MAX: usize = 1_000;
/// A model's summary; the rest of the layer is for what was said since.
pub const SESSION_SUMMARY_BYTES_MAX: usize = 1_400;
/// What is asked of the model, so that it rarely exceeds that.
pub const SESSION_SUMMARY_BYTES_WANTED: usize = 1_000;
/// The same in tokens, with room for scripts that need many.
pub const SESSION_SUMMARY_TOKENS_MAX: u32 = 700;
/// Points of a model's summary.
pub const SESSION_SUMMARY_POINTS_MAX: usize = 24;
/// Turns that a model is shown, so that its summary outlives the next ones.
pub const SESSION_SUMMARY_TURNS_MAX: usize = 80;
/// How old the turns are that it is shown, in milliseconds, for the same reason.
pub const SESSION_SUMMARY_MS_MAX: i64 = 20 * 3_600_000;
/// What a model is shown of one turn.
pub const SESSION_PROMPT_TURN_BYTES_MAX: usize = 2 * 1024;
/// What a model is shown of all turns, the newest first.
pub const SESSION_PROMPT_BYTES_MAX: usize = 48 * 1024;
/// What must be left for turns beside a model's summary, or the turns are quoted.
pub const SESSION_TAIL_BYTES_MIN: usize = 512;
