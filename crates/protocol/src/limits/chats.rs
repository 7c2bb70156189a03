//! The maximums of chats and of the services they come from. Units stand last in the name.

use std::time::Duration;

/// How long Telegram holds a poll open while nothing happens.
pub const TELEGRAM_POLL_WAIT: Duration = Duration::from_secs(50);
/// How long such a poll may take in all.
pub const TELEGRAM_POLL_TIMEOUT: Duration = Duration::from_secs(65);
/// Between two polls that bring nothing there is at least this.
pub const TELEGRAM_POLL_PAUSE_MIN: Duration = Duration::from_millis(200);
/// Updates of one poll.
pub const TELEGRAM_POLL_UPDATES_MAX: u32 = 100;
/// How long Telegram keeps an update that nobody has confirmed, in milliseconds.
pub const TELEGRAM_KEPT_MS: i64 = 24 * 3600 * 1000;
/// How often a stream in which nothing happens says that nothing was missed, in milliseconds.
pub const TELEGRAM_HELD_EVERY_MS: i64 = 5 * 60 * 1000;
/// Chats of which a stream remembers since when it has seen everything.
pub const TELEGRAM_CHATS_WATCHED_MAX: usize = 10_000;
/// A file that a bot may download.
pub const TELEGRAM_FILE_BYTES_MAX: usize = 20 * 1024 * 1024;
/// How long the download of a file may take.
pub const TELEGRAM_FILE_TIMEOUT: Duration = Duration::from_mins(2);
/// The text of a message that a bot sends.
pub const TELEGRAM_TEXT_CHARS_MAX: usize = 4_096;
/// A message of a sort this hub does not know, as far as it is kept whole.
pub const TELEGRAM_UNKNOWN_BYTES_MAX: usize = 4_096;
/// Messages of a Telegram export that are handed over at once.
pub const TELEGRAM_IMPORT_BATCH_MESSAGES: usize = 1_000;
/// One message of a Telegram export.
pub const TELEGRAM_IMPORT_RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// People of a Telegram export that are remembered, so that each is named once.
pub const TELEGRAM_IMPORT_PEOPLE_MAX: usize = 100_000;
/// Stretches of one chat that a Telegram export may claim to hold whole.
pub const TELEGRAM_IMPORT_STRETCHES_MAX: usize = 256;
