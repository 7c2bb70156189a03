//! The maximums of links to services. Units stand last in the name.

use std::time::Duration;

/// How long asking a service whose credentials these are may take.
pub const LINK_CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a page of chats or history may take.
pub const LINK_PAGE_TIMEOUT: Duration = Duration::from_mins(2);
/// How long a stream that was asked to end may take.
pub const LINK_STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// The first wait after a link failed; each further failure doubles it.
pub const LINK_RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest wait after a link failed.
pub const LINK_RETRY_MAX: Duration = Duration::from_mins(5);
/// The first wait after a failure that a person must mend.
pub const LINK_ATTENTION_RETRY_MIN: Duration = Duration::from_mins(1);
/// The longest that a service may ask a link to wait.
pub const LINK_RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// A stream that was up for so long has mended whatever failed before.
pub const LINK_STEADY_AFTER: Duration = Duration::from_mins(1);
/// How often links are looked for that another hub has added, changed or removed.
pub const LINKS_LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long a hub has a link to itself, on a database that several share, in milliseconds.
pub const LINK_LEASE_MS: i64 = 30_000;
/// How often it says that it still runs the link.
pub const LINK_LEASE_RENEW_EVERY: Duration = Duration::from_secs(10);
/// How often a link that does not stream is asked for news, or whether its credentials still work.
pub const LINK_LOOK_EVERY: Duration = Duration::from_mins(5);
/// Pages of history that may be asked for at once.
pub const HISTORY_PAGES_BURST: u32 = 10;
/// Beyond that, the time between two: just below fifty a minute.
pub const HISTORY_PAGE_EVERY: Duration = Duration::from_millis(1_250);
/// How often a page of history is tried again before its chat has to wait for the next connection.
pub const HISTORY_TRIES_MAX: u32 = 5;
/// Pages of a list of chats.
pub const CHAT_LIST_PAGES_MAX: u32 = 10_000;
/// How often a commit is tried again while the store has too much to do.
pub const COMMIT_TRIES_MAX: u32 = 100;
/// Between two of those tries.
pub const COMMIT_RETRY_EVERY: Duration = Duration::from_millis(250);
/// A request of a service to the hub.
pub const HOOK_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Requests of services that are worked on at once, together; beyond that they are asked to come again.
pub const HOOKS_BYTES_IN_FLIGHT_MAX: usize = 128 * 1024 * 1024;
/// What a request counts for at least.
pub const HOOK_BYTES_MIN: usize = 64 * 1024;
/// Requests from one address in a minute, whatever becomes of them.
pub const HOOKS_PER_MINUTE: u32 = 60_000;
/// Requests from one address in a minute that no link took.
pub const HOOKS_REFUSED_PER_MINUTE: u32 = 60;
/// How long taking one in may take.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(20);
/// One thing that a link is given.
pub const LINK_SETTING_BYTES_MAX: usize = 64 * 1024;
/// Things that a link is given.
pub const LINK_SETTINGS_MAX: usize = 32;
/// Messages forgotten in one transaction because their time is up.
pub const EXPIRY_BATCH_MAX: usize = 500;
/// How often expiry looks by itself.
pub const EXPIRY_LOOK_EVERY: Duration = Duration::from_secs(30);
/// Messages, or chats, deleted in one transaction of a purge.
pub const PURGE_BATCH_MAX: usize = 2_000;
/// How long one call purges; the next one goes on.
pub const PURGE_TIME_MAX: Duration = Duration::from_secs(30);
