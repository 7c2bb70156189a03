//! The maximums of the relay. Units stand last in the name.

use std::time::Duration;

/// How long what a service said is kept byte for byte, in milliseconds.
pub const DELIVERY_BODY_MS: i64 = 30 * 24 * 3_600_000;
/// How long it is known again when it comes once more, in milliseconds.
pub const DELIVERY_KEY_MS: i64 = 90 * 24 * 3_600_000;
/// How long a lease on work lasts unless the agent says otherwise, in milliseconds.
pub const WORK_LEASE_MS_DEFAULT: i64 = 60_000;
/// The longest lease on work, in milliseconds.
pub const WORK_LEASE_MS_MAX: i64 = 15 * 60_000;
/// Pieces of work that one call takes.
pub const WORK_PULLED_MAX: u32 = 16;
/// How often work is given out before it is given up.
pub const WORK_ATTEMPTS_MAX: i64 = 5;
/// Envelopes that one completion may add.
pub const WORK_REPLIES_MAX: usize = 16;
/// The name of a queue unless a route says otherwise.
pub const QUEUE_DEFAULT: &str = "default";

/// The waits after each failed attempt to send, in milliseconds, each a fifth longer or shorter.
pub const OUTBOX_BACKOFF_MS: [i64; 7] =
    [5_000, 30_000, 120_000, 600_000, 3_600_000, 10_800_000, 43_200_000];
/// How long a sender has an action to itself, in milliseconds.
pub const OUTBOX_LEASE_MS: i64 = 60_000;
/// Actions sent at the same time.
pub const OUTBOX_IN_FLIGHT_MAX: usize = 16;
/// How long one request to a service may take.
pub const OUTBOX_SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a proposal waits before it expires, in milliseconds. It can still be decided then.
pub const PROPOSAL_EXPIRES_MS: i64 = 24 * 3_600_000;
/// When somebody is reminded for the first time, in milliseconds.
pub const PROPOSAL_REMIND_MS: i64 = 4 * 3_600_000;
/// How often somebody is reminded.
pub const PROPOSAL_REMINDERS_MAX: i64 = 3;
/// The text of an action.
pub const ACTION_TEXT_BYTES_MAX: usize = 128 * 1024;

/// How deep calls of tools may be nested.
pub const TOOL_DEPTH_MAX: i64 = 5;
/// How often a failed call takes another way.
pub const TOOL_HOPS_MAX: i64 = 3;
/// How long a tool may take.
pub const TOOL_TIMEOUT: Duration = Duration::from_mins(1);
/// The result of a tool, as JSON.
pub const TOOL_RESULT_BYTES_MAX: usize = 48 * 1024;

/// The session layer of a context.
pub const SESSION_LAYER_BYTES_MAX: usize = 2_048;
/// Turns that a session layer covers.
pub const SESSION_TURNS_MAX: usize = 100;
/// How far back a session layer reaches, in milliseconds.
pub const SESSION_MS_MAX: i64 = 24 * 3_600_000;
/// The data of one memory, as JSON.
pub const MEMORY_BYTES_MAX: usize = 16 * 1024;
/// Memories that one recall answers.
pub const RECALL_MAX: u32 = 50;
/// The longest life of a memory that has one, in seconds.
pub const MEMORY_TTL_SECONDS_MAX: i64 = 10 * 366 * 24 * 3_600;
