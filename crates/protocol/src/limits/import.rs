//! Every maximum of reading what people export from a service. Units stand last in the name.

/// Messages handed over at once.
pub const MESSAGES_PER_TAKE: usize = 500;
/// Things left out that are reported one by one; further ones are counted.
pub const SKIPPED_REPORTS_MAX: u64 = 1_000;
/// Between two reports of how far the reading is.
pub const PROGRESS_EVERY_BYTES: u64 = 1024 * 1024;

/// One line of a text; the rest of a longer one is left out.
pub const LINE_BYTES_MAX: usize = 256 * 1024;
/// A name of a person, as an export writes it.
pub const NAME_BYTES_MAX: usize = 256;
/// Names told apart while an export is surveyed.
pub const NAMES_MAX: usize = 5_000;
/// Ways to write a date that are told apart while an export is surveyed.
pub const DATE_SHAPES_MAX: usize = 8;
/// Moments whose messages are counted, so that equal ones stay apart.
pub const MOMENTS_MAX: usize = 4_096;
/// Different messages of one moment that are counted one by one.
pub const MESSAGES_PER_MOMENT_MAX: usize = 10_000;

/// Entries of an archive, or files of a folder.
pub const ARCHIVE_ENTRIES_MAX: usize = 100_000;
/// The name of an entry.
pub const ENTRY_NAME_BYTES_MAX: usize = 1_024;
/// One text of an export, unpacked.
pub const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// How many times its packed size a text may have when it is unpacked.
pub const UNPACK_RATIO_MAX: u64 = 200;
/// A text up to this size may be packed as tightly as it likes.
pub const UNPACK_FREE_BYTES: u64 = 16 * 1024 * 1024;
/// How much of a text decides whether it is a chat.
pub const SNIFF_BYTES_MAX: usize = 64 * 1024;
