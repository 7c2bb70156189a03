//! The maximums of chats and of the services they come from. Units stand last in the name.

use std::time::Duration;

/// A message's text as far as it is shown, the mark of what was cut included.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The name of a person, chat or source as far as it is shown.
pub const NAME_CHARS_MAX: usize = 128;
/// A `messages://` address.
pub const URI_BYTES_MAX: usize = 4 * 1024;
/// A time in words or digits.
pub const WHEN_BYTES_MAX: usize = 128;
/// How far a time may lie from now, in days: a hundred years.
pub const WHEN_DAYS_MAX: i64 = 36_525;
/// How far ahead of the hub's clock a caller's clock may set `since`, in milliseconds.
pub const SINCE_AHEAD_MS_MAX: i64 = 30_000;

/// An id that a source gives a chat, a message or a person; a longer one is kept as its digest.
pub const REMOTE_ID_BYTES_MAX: usize = 512;
/// Links of a workspace.
pub const LINKS_MAX: usize = 1_000;
/// Chats of a link that are looked at.
pub const CHATS_MAX: usize = 100_000;
/// Spellings of one person.
pub const PERSON_ALIASES_MAX: usize = 64;
/// Different signs on one message, and names kept for one sign.
pub const REACTIONS_MAX: usize = 100;
/// Changes kept for a message that has not come yet.
pub const EARLY_CHANGES_MAX: usize = 32;
/// Chats or people that an ambiguous name is told apart by.
pub const CANDIDATES_MAX: usize = 10;
/// Messages or chats that one page may pass over.
pub const OFFSET_MAX: usize = 100_000;
/// Gaps that an answer lists, and stretches of a chat that are looked at.
pub const GAPS_MAX: usize = 20;
/// Messages before, or after, one that its context shows.
pub const CONTEXT_MAX: u32 = 100;
/// Earlier versions of a message that are shown.
pub const VERSIONS_MAX: usize = 100;
/// The id of a source.
pub const SOURCE_ID_CHARS_MAX: usize = 32;
/// Arrivals and changes that one look at the log takes.
pub const ARRIVALS_MAX: usize = 500;

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
/// The text of a message that somebody asks to be sent.
pub const SEND_TEXT_BYTES_MAX: usize = 16 * 1024;
/// The text of a message that a bot sends.
pub const TELEGRAM_TEXT_CHARS_MAX: usize = 4_096;
/// Messages that a bot sends to one chat in a second, to one group in a minute, and in all in a second.
pub const TELEGRAM_PER_CHAT_SECOND: u32 = 1;
/// See above: a group takes fewer.
pub const TELEGRAM_PER_GROUP_MINUTE: u32 = 20;
/// See above: all chats together.
pub const TELEGRAM_PER_SECOND: u32 = 30;
/// A message of a sort this hub does not know, as far as it is kept whole.
pub const TELEGRAM_UNKNOWN_BYTES_MAX: usize = 4_096;
/// How long a part of an import waits for those that come before it.
pub const IMPORT_TURN_MAX: Duration = Duration::from_secs(5);
/// Messages of a Telegram export that are handed over at once.
pub const TELEGRAM_IMPORT_BATCH_MESSAGES: usize = 1_000;
/// One message of a Telegram export.
pub const TELEGRAM_IMPORT_RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// People of a Telegram export that are remembered, so that each is named once.
pub const TELEGRAM_IMPORT_PEOPLE_MAX: usize = 100_000;
/// Stretches of one chat that a Telegram export may claim to hold whole.
pub const TELEGRAM_IMPORT_STRETCHES_MAX: usize = 256;

/// What a service said of a refusal, as far as it is passed on.
pub const REFUSAL_CHARS_MAX: usize = 200;

/// One event or line of a signal-cli daemon; a larger one is passed over.
pub const SIGNAL_EVENT_BYTES_MAX: usize = 1024 * 1024;
/// Events of a signal-cli daemon that are committed together.
pub const SIGNAL_BATCH_EVENTS_MAX: usize = 100;
/// How long a signal-cli daemon may say nothing at all; it sends a sign of life every 15 s.
pub const SIGNAL_SILENCE_MAX: Duration = Duration::from_mins(1);
/// How long a call of a signal-cli daemon may take; sending to a large group is slow.
pub const SIGNAL_CALL_TIMEOUT: Duration = Duration::from_mins(1);
/// Lines that a signal-cli daemon may send before the one that answers a call.
pub const SIGNAL_LINES_BEFORE_ANSWER_MAX: usize = 10_000;
/// While nothing happens at Signal, how often it is noted that nothing is missing, in milliseconds.
pub const SIGNAL_HELD_EVERY_MS: i64 = 60_000;
/// Changed messages whose earlier times of sending are remembered.
pub const SIGNAL_REVISIONS_MAX: usize = 10_000;
/// How long a story lives, in seconds.
pub const SIGNAL_STORY_SECONDS: i64 = 24 * 3600;

/// A text that is sent over Signal; longer ones become files there.
pub const SIGNAL_TEXT_UNITS_MAX: usize = 2_000;

/// Messages that WhatsApp takes of a number in a second.
pub const WHATSAPP_PER_SECOND: u32 = 80;
/// A text that WhatsApp sends.
pub const WHATSAPP_TEXT_CHARS_MAX: usize = 4_096;
/// What WhatsApp asks to be repeated when it makes sure of a webhook.
pub const WHATSAPP_CHALLENGE_BYTES_MAX: usize = 1_024;
/// Between two messages to the same person at WhatsApp.
pub const WHATSAPP_PAIR_PAUSE: Duration = Duration::from_secs(6);
/// How long to wait when WhatsApp asks for patience and does not say how long.
pub const WHATSAPP_PAUSE: Duration = Duration::from_mins(1);
/// How long a file of WhatsApp may take.
pub const WHATSAPP_MEDIA_TIMEOUT: Duration = Duration::from_mins(2);
/// An attachment that is fetched for a caller.
pub const ATTACHMENT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long fetching one may take.
pub const ATTACHMENT_TIMEOUT: Duration = Duration::from_secs(50);
