//! The maximums of waking agents. Units stand last in the name.

use std::time::Duration;

/// How often a human who types is looked at again.
pub const WAKE_RECHECK_MS: i64 = 5_000;
/// How long a human must not have typed.
pub const WAKE_QUIET_MS: i64 = 20_000;
/// How long a wake waits for a human at most.
pub const WAKE_DEFER_MS_MAX: i64 = 60_000;
/// How long a host has a wake to itself without saying anything, in milliseconds.
pub const WAKE_LEASE_MS: i64 = 30_000;
/// The waits after each failed attempt, in milliseconds.
pub const WAKE_BACKOFF_MS: [i64; 5] = [30_000, 60_000, 120_000, 240_000, 300_000];
/// Attempts before a wake has failed for good.
pub const WAKE_ATTEMPTS_MAX: i64 = 5;
/// How often an agent may be triggered by others, a minute.
pub const WAKE_TRIGGERS_PER_MINUTE: u32 = 6;
/// Wakes of an agent an hour, unless its policy says otherwise.
pub const WAKE_PER_HOUR_MAX: i64 = 60;
/// The most wakes an hour that a policy can allow.
pub const WAKE_PER_HOUR_CEILING: i64 = 3_600;
/// Changes of speaker between agents without a human before posts stop waking anybody.
pub const WAKE_HOPS_MAX: i64 = 24;
/// The most changes of speaker that a policy can allow.
pub const WAKE_HOPS_CEILING: i64 = 100_000;
/// Characters of a caller's own words in a notice.
pub const TRIGGER_PROMPT_CHARS_MAX: u32 = 1_000;
/// Characters of the reason for a wake.
pub const WAKE_REASON_CHARS_MAX: u32 = 200;
/// How long `trigger_participant` waits for a host's word, in milliseconds.
pub const TRIGGER_WAIT_MS_DEFAULT: u64 = 2_000;
/// How long it waits at most.
pub const TRIGGER_WAIT_MS_MAX: u64 = 30_000;
/// Wakes a host may claim at once.
pub const WAKES_CLAIMED_MAX: u32 = 16;
/// Sessions of an agent that a host is told of.
pub const WAKE_SESSIONS_MAX: usize = 5;
/// How long the token of a session lives, in milliseconds.
pub const SESSION_TOKEN_MS: i64 = 15 * 60_000;
/// How often whoever runs a session renews its token.
pub const SESSION_TOKEN_RENEW_EVERY: Duration = Duration::from_mins(5);
/// Older messages wake nobody by themselves, in milliseconds.
pub const WAKE_NEWS_MS_MAX: i64 = 24 * 3_600_000;
/// Threads for which an agent is woken when it is seen for the first time.
pub const WAKES_OF_ARRIVAL_MAX: usize = 16;
/// Rows of the log that may be looked at again after a crash.
pub const WAKE_CURSOR_ROWS_MAX: i64 = 10_000;
/// Messages that the wake duty looks at in one transaction.
pub const WAKE_LOOK_ROWS_MAX: usize = 256;
/// How long an agent that was told may take over a turn, in milliseconds; then further messages wake it
/// again, whatever is heard of it.
pub const WAKE_TOLD_MS_MAX: i64 = 10 * 60_000;
/// How long a notice may lie with an idle program before it counts as passed over, in milliseconds.
pub const WAKE_HANDED_MS_MAX: i64 = 60_000;
/// After so long a call that still waits beside its session has not passed on what it was given, in
/// milliseconds.
pub const WAKE_REHAND_MS: i64 = 10_000;
/// How long a wake that was about to be handed over waits for the one host that can say whether it was,
/// in milliseconds.
pub const WAKE_HANDING_MS_MAX: i64 = 5 * 60_000;
/// Open wakes of one agent, or about one thread, that are looked at together.
pub const WAKES_OPEN_MAX: usize = 1_000;
/// How often whoever waits for wakes looks by itself: another hub may have written them.
pub const WAKE_LOOK_EVERY: Duration = Duration::from_secs(2);
/// Arguments of the command that starts an agent.
pub const AGENT_COMMAND_PARTS_MAX: usize = 64;
/// How soon a wake whose agent is not there is looked at again, in milliseconds.
pub const WAKE_ABSENCE_MS_MIN: i64 = 30_000;
/// How seldom, after a long time.
pub const WAKE_ABSENCE_MS_MAX: i64 = 60 * 60_000;
/// Folders of ended sessions that a host keeps.
pub const RUN_FOLDERS_MAX: usize = 200;
/// Logs of processes that a host started and that have ended.
pub const RUN_LOGS_MAX: usize = 500;
/// Bytes of all those logs together.
pub const RUN_LOGS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How long such a folder or log is kept at most.
pub const RUN_LEFTOVER_KEPT_MAX: Duration = Duration::from_hours(7 * 24);
/// How long it is kept at least, however many there are: longer than all attempts of a wake.
pub const RUN_LEFTOVER_KEPT_MIN: Duration = Duration::from_hours(1);
/// How often a host looks for them.
pub const RUN_SWEEP_EVERY: Duration = Duration::from_hours(1);
