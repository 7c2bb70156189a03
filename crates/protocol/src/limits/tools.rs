//! The maximums of tools that agents call, and of what an agent is given for a turn. Units stand last.

use std::time::Duration;

/// Calls of tools that run at the same time.
pub const TOOLS_IN_FLIGHT_MAX: usize = 8;
/// How long a runner has a call to itself before it must say that it still runs, in milliseconds.
pub const TOOL_LEASE_MS: i64 = 20_000;
/// How often a runner says so.
pub const TOOL_HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a call waits before it is tried again, in milliseconds.
pub const TOOL_RETRY_MS: i64 = 2_000;
/// How often a call is begun before it is given up, crashes included.
pub const TOOL_ATTEMPTS_MAX: i64 = 8;
/// How long a tool may be allowed to take.
pub const TOOL_TIMEOUT_CEILING: Duration = Duration::from_mins(10);
/// The name of a tool.
pub const TOOL_NAME_CHARS_MAX: usize = 128;
/// What a tool is given, as JSON.
pub const TOOL_ARGS_BYTES_MAX: usize = 48 * 1024;
/// How much of that its answer repeats.
pub const TOOL_ARGS_SHOWN_BYTES_MAX: usize = 4 * 1024;
/// What an asker calls its call.
pub const TOOL_KEY_CHARS_MAX: usize = 200;
/// Calls below one call that are stopped with it, at each level.
pub const TOOL_CHILDREN_MAX: usize = 100;
/// The text of a failure, in characters.
pub const TOOL_ERROR_CHARS_MAX: usize = 500;
/// What an answer says beside its result.
pub const TOOL_CONTENT_BYTES_MAX: usize = 8 * 1024;

/// What a context may come to unless its operator says otherwise, in tokens.
pub const CONTEXT_TOKENS_DEFAULT: u64 = 32_000;
/// What a context may come to at most, in tokens.
pub const CONTEXT_TOKENS_CEILING: u64 = 10_000_000;
/// The text of the system layer.
pub const CONTEXT_SYSTEM_BYTES_MAX: usize = 64 * 1024;
/// The text of the task layer.
pub const CONTEXT_TASK_BYTES_MAX: usize = 4 * 1024;
/// What is read of a thread for one context.
pub const CONTEXT_READ_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How much of one turn a summary looks at.
pub const CONTEXT_TURN_SCAN_BYTES_MAX: usize = 16 * 1024;
/// Lines that stay of the beginning of a long result.
pub const CONTEXT_HEAD_LINES: usize = 40;
/// Lines that stay of its end.
pub const CONTEXT_TAIL_LINES: usize = 20;
/// What one of those lines may come to, in characters.
pub const CONTEXT_LINE_CHARS_MAX: usize = 400;

/// The summary of an issue.
pub const ISSUE_SUMMARY_BYTES_MAX: usize = 2_048;
/// Labels that are suggested for an issue.
pub const ISSUE_LABELS_MAX: usize = 6;
/// How much of an issue a summary looks at.
pub const ISSUE_SCAN_BYTES_MAX: usize = 64 * 1024;
/// Comments of an issue that a summary looks at.
pub const ISSUE_COMMENTS_MAX: usize = 100;
/// The address of a page.
pub const PAGE_URL_BYTES_MAX: usize = 2_048;
