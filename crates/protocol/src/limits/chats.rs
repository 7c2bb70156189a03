//! The maximums of chats from outside. Units stand last in the name.

use std::time::Duration;

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
