//! The maximums of the Slack connector. Units stand last in the name.

use std::time::Duration;

/// Messages asked for at once. Slack gives up to 999, and advises no more than 200.
pub const HISTORY_PAGE: usize = 200;
/// Messages that Slack gives at once to an app that is distributed outside of its marketplace.
pub const DISTRIBUTED_PAGE: usize = 15;
/// Chats or people asked for at once.
pub const LIST_PAGE: usize = 1_000;
/// An answer of the Web API: a page of messages with all their blocks.
pub const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long a method may take; a page of a large workspace takes its time.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a list whose cursor has expired is begun again.
pub const RESTARTS_MAX: u32 = 3;
/// A place in a list or a chat's history, as far as it is read back.
pub const PLACE_BYTES_MAX: usize = 64 * 1024;
/// A stretch of history counts as whole when threads begun so long before it have been read too.
pub const THREAD_LOOKBACK_MS: i64 = 48 * 3_600 * 1_000;

/// How long to wait where Slack asks for patience without saying how much.
pub const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(30);
/// The longest wait that Slack is taken at its word for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// From this wait on a limit is the one of a distributed app, which is one request a minute.
pub const DISTRIBUTED_RETRY_AFTER: Duration = Duration::from_secs(50);

/// How long a new socket may take to say hello.
pub const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a socket that is being replaced is still read.
pub const LEAVING_TIMEOUT: Duration = Duration::from_secs(30);
/// Events remembered as taken, by id.
pub const EVENTS_KNOWN_MAX: usize = 8_192;
/// Between two reports that nothing is missing while nothing happens, in milliseconds.
pub const HELD_EVERY_MS: i64 = 60_000;
/// An event may be under way for so long, in milliseconds.
pub const DELIVERY_LAG_MS: i64 = 5_000;
/// How old a signed request may be, in seconds.
pub const SIGNATURE_AGE_SECONDS_MAX: i64 = 300;

/// People and chats whose names are remembered, of each.
pub const NAMES_MAX: usize = 100_000;
/// A text that is put together from blocks and attachments.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// How deep blocks may lie in blocks.
pub const BLOCK_DEPTH_MAX: usize = 16;
/// People a message is read as naming.
pub const MENTIONS_MAX: usize = 256;
/// Files, reactions, or people behind a reaction, of one message.
pub const PARTS_MAX: usize = 1_000;

/// A message to be sent; Slack cuts off what is longer.
pub const SEND_CHARS_MAX: usize = 40_000;
/// Between two messages to the same chat.
pub const SEND_INTERVAL: Duration = Duration::from_secs(1);
/// The longest a message waits for its turn.
pub const SEND_WAIT_MAX: Duration = Duration::from_secs(10);
/// Chats whose turns are remembered.
pub const SEND_CHATS_MAX: usize = 10_000;
/// How long fetching a file may take.
pub const FETCH_TIMEOUT: Duration = Duration::from_mins(2);

/// Files of an export.
pub const EXPORT_ENTRIES_MAX: usize = 500_000;
/// All files of an export together, unpacked.
pub const EXPORT_BYTES_MAX: u64 = 256 * 1024 * 1024 * 1024;
/// One file of an export, unpacked: a day of a chat, or everybody in the workspace.
pub const EXPORT_ENTRY_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// How many times larger an archive may become; deflate makes at most 1,032 of 1.
pub const EXPORT_RATIO_MAX: u64 = 200;
/// From this size on the ratio counts; small files of blanks are honest.
pub const EXPORT_RATIO_FROM_BYTES: u64 = 64 * 1024 * 1024;
/// One message, or one person, of an export.
pub const EXPORT_ELEMENT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Messages handed over at once.
pub const EXPORT_BATCH: usize = 500;
/// How deep folders may lie in an export.
pub const EXPORT_DEPTH_MAX: usize = 3;
