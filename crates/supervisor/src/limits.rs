//! The maximums of this crate. Units stand last in the name.

mod keeper;

pub use keeper::*;

use std::time::Duration;

/// Ancestors of a hook that are looked at to find the CLI that called it.
pub const ANCESTORS_MAX: usize = 32;
/// How long a program's records are asked whether a notice arrived before a person must look, in
/// milliseconds.
pub const ARRIVAL_PATIENCE_MS: i64 = 60_000;

/// Files beside Claude Code's records of running processes; with more of them nothing is proven.
pub const CLAUDE_RECORDS_MAX: usize = 10_000;
/// Bytes of one such record.
pub const CLAUDE_RECORD_BYTES_MAX: u64 = 64 * 1024;
/// Folders of projects in which a transcript is looked for.
pub const CLAUDE_PROJECTS_MAX: usize = 10_000;
/// Bytes of a transcript that are read at once.
pub const TRANSCRIPT_BLOCK_BYTES: u64 = 1024 * 1024;
/// Bytes of a transcript that are searched, from its end.
pub const TRANSCRIPT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one line of a transcript; longer ones are passed over.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How often a transcript that is waited on is looked at.
pub const TRANSCRIPT_LOOK_EVERY: Duration = Duration::from_millis(25);
/// Bytes of a started process' log that are searched for the beginning of its turn.
pub const STARTED_LOG_BYTES_MAX: u64 = 256 * 1024;
/// How long a human must have been quiet before anything is typed, unless somebody says otherwise.
pub const QUIET_DEFAULT: Duration = Duration::from_secs(20);
