//! The maximums of chats from outside. Units stand last in the name.

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
