//! The maximums of MCP alone. Units stand last in the name.

use std::time::Duration;

/// Between two progress notifications of a call that waits.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// Between two notifications about the same thread; what happens in between is told once.
pub const NOTIFY_INTERVAL: Duration = Duration::from_millis(100);
/// Between two notifications about the same chat; what arrives in between is told together.
pub const ARRIVALS_INTERVAL: Duration = Duration::from_secs(1);
/// Messages that a notification about a chat names, the newest.
pub const UPDATE_MESSAGES_MAX: usize = 100;
/// Chats that one subscription holds back at a time.
pub const PACED_CHATS_MAX: usize = 10_000;
/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 256;
/// A session that nobody used or listened to for so long is over.
pub const SESSION_IDLE: Duration = Duration::from_mins(30);
/// Sessions of one caller; a further one ends the oldest.
pub const SESSIONS_PER_CALLER_MAX: usize = 100;
/// Requests of a session of which is kept what was said on their streams, the newest.
pub const ANSWERS_KEPT_MAX: usize = 8;
/// Events that are kept of each of these streams.
pub const EVENTS_KEPT_MAX: usize = 16;
/// How long they are kept after the answer, for a client whose network failed.
pub const ANSWER_KEPT: Duration = Duration::from_mins(1);
/// How long a client may take a list of tools for the newest, in milliseconds.
pub const TOOLS_TTL_MS: u64 = 300_000;
/// The same for a list of threads, in milliseconds.
pub const THREADS_TTL_MS: u64 = 2_000;
/// Messages of a thread read as a resource.
pub const RESOURCE_MESSAGES: i64 = 50;
/// Answers waiting for a client that reads slowly, on one stream.
pub const ANSWERS_QUEUED_MAX: usize = 64;
/// How long a stream that ends may take to hand over its last answers.
pub const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(2);
/// How long calls that could take longer may go on after their client has ended its input. Clients kill
/// after two seconds.
pub const LAST_CALLS_TIMEOUT: Duration = Duration::from_secs(1);
/// Chats that are listed as resources.
pub const LISTED_CHATS_MAX: usize = 50;
/// Sources whose chats are looked at for a list of resources or a completion.
pub const LISTED_SOURCES_MAX: usize = 20;
/// Messages of a chat that a prompt shows.
pub const PROMPT_MESSAGES: usize = 100;
/// People whom a prompt names.
pub const PROMPT_PEOPLE: usize = 50;
