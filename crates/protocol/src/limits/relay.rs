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
/// The shortest lease on work, in milliseconds.
pub const WORK_LEASE_MS_MIN: i64 = 1_000;
/// How long work may be put off when it is released, in milliseconds.
pub const WORK_DELAY_MS_MAX: i64 = 24 * 3_600_000;
/// Actions that one completion may ask for.
pub const WORK_ACTIONS_MAX: usize = 16;
/// Work whose lease has ended, taken back in one transaction.
pub const WORK_LAPSED_BATCH_MAX: usize = 64;
/// How often the hub looks for work whose lease has ended, and counts what stands in queues.
pub const WORK_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often what stands in queues is counted.
pub const DEPTHS_COUNTED_EVERY: Duration = Duration::from_secs(5);
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
/// Actions sent at the same time, unless the operator says otherwise.
pub const OUTBOX_IN_FLIGHT_MAX: usize = 16;
/// The most an operator may say.
pub const OUTBOX_IN_FLIGHT_CONFIGURED_MAX: usize = 256;
/// How long one request to a service may take.
pub const OUTBOX_SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The pauses before a service is asked whether something arrived whose answer was lost, in milliseconds:
/// it may hide what is new from its own lists for a while. Then it is sent again.
pub const OUTBOX_LOOKS_MS: [i64; 4] = [2_000, 5_000, 15_000, 30_000];
/// How often the sender looks by itself: another hub may have queued something, or a clock was moved.
pub const OUTBOX_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long an action waits for a link that is not up, in milliseconds.
pub const OUTBOX_LINK_WAIT_MS: i64 = 5_000;
/// The longest that a service may ask an action to wait, in milliseconds.
pub const OUTBOX_RETRY_AFTER_MS_MAX: i64 = 6 * 3_600_000;
/// Failures in a row after which a place is left alone.
pub const OUTBOX_BREAKER_FAILURES: u32 = 5;
/// How long it is left alone at first, in milliseconds; each further time is twice as long.
pub const OUTBOX_BREAKER_PAUSE_MS: i64 = 30_000;
/// How long it is left alone at most, in milliseconds.
pub const OUTBOX_BREAKER_PAUSE_MS_MAX: i64 = 10 * 60_000;
/// Places whose limits and failures are remembered.
pub const OUTBOX_PLACES_MAX: usize = 10_000;
/// What is kept of a service's answer.
pub const OUTBOX_ANSWER_CHARS_MAX: usize = 1_000;

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

/// What was said at a service, as it stands in an envelope.
pub const INBOUND_TEXT_BYTES_MAX: usize = 128 * 1024;
/// The name that a service has for an event, a thing or a person.
pub const INBOUND_NAME_CHARS_MAX: usize = 200;
/// Deliveries that one transaction goes through that looks for what has been kept long enough.
pub const DELIVERY_SWEEP_MAX: usize = 500;
/// How often a service is asked what it did not manage to say.
pub const RECONCILE_EVERY: Duration = Duration::from_mins(10);
/// So far before the last time asked it is asked again: clocks differ, and services report late.
pub const RECONCILE_OVERLAP_MS: i64 = 5 * 60_000;
/// The furthest back that a service is asked.
pub const RECONCILE_MS_MAX: i64 = 30 * 24 * 3_600_000;
/// Pages that one such asking takes.
pub const RECONCILE_PAGES_MAX: u32 = 200;
/// Routes that an operator may write.
pub const ROUTES_MAX: usize = 1_000;
/// The id that a sender gives an envelope.
pub const ENVELOPE_ID_CHARS_MAX: usize = 128;
/// The name of a channel, a role or a queue.
pub const ENVELOPE_NAME_CHARS_MAX: usize = 64;
/// Documents that one envelope refers to.
pub const RETRIEVAL_REFS_MAX: usize = 100;
/// Answers of tools that are looked at for documents that a task retrieved, the newest first.
pub const TASK_ANSWERS_MAX: i64 = 64;
