//! The maximums of the Codex lanes. Units stand last in the name.

use std::time::Duration;

/// How long connecting to an app server may take, with its greeting.
pub(super) const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// How long an app server may take to answer.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// How long `codex queue`, `codex --version` and their like may run.
pub(super) const COMMAND_TIME_MAX: Duration = Duration::from_secs(20);
/// How long `codex exec` may take until it names its thread.
pub(super) const EXEC_START_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a private app server may take until it answers.
pub(super) const SERVER_START_TIME_MAX: Duration = Duration::from_secs(20);
/// How long a private app server may take to end when it is asked to.
pub(super) const SERVER_END_TIME_MAX: Duration = Duration::from_secs(3);
/// How often files that Codex writes are looked at.
pub(super) const WATCH_INTERVAL: Duration = Duration::from_millis(15);
/// Size of one message of an app server.
pub(super) const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Messages that may pass while an answer is awaited.
pub(super) const MESSAGES_BEFORE_ANSWER_MAX: usize = 10_000;
/// Loaded threads that are looked at to find that of a process.
pub(super) const THREADS_LOADED_MAX: usize = 64;
/// Queued submissions that are looked at.
pub(super) const QUEUED_MAX: u32 = 100;
/// What is read of a rollout, from its end.
pub(super) const ROLLOUT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// What is read of a rollout, from its end, for what has only just happened.
pub(super) const ROLLOUT_RECENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Size of one line of a rollout; a longer one is passed over.
pub(super) const ROLLOUT_LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Folders of days, and files in each, that are looked through for a rollout.
pub(super) const ROLLOUT_ENTRIES_MAX: usize = 200_000;
/// Folders of days that are looked through for a rollout that has only just been made.
pub(super) const ROLLOUT_RECENT_DAYS_MAX: usize = 3;
/// What is read of the log of a started `codex exec`.
pub(super) const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// What is read of the table of locks, of a process' files or arguments.
pub(super) const PROC_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Processes below a given one that are looked at.
pub(super) const DESCENDANTS_MAX: usize = 256;
/// Length of a notice.
pub(super) const NOTICE_BYTES_MAX: usize = 8 * 1024;
/// Length of a wake's id.
pub(super) const WAKE_ID_BYTES_MAX: usize = 96;
/// How long after its start a terminal may take to open its thread.
pub(super) const THREAD_OPENS_WITHIN: Duration = Duration::from_mins(2);
/// After how many seconds a private app server lets go of a thread that nobody looks at.
pub(super) const THREAD_UNLOAD_SECONDS: u32 = 1;
/// Programs whose abilities are remembered.
pub(super) const KNOWN_PROGRAMS_MAX: usize = 16;
