//! The maximums of finding messages by what they contain. Units stand last in the name.

use std::time::Duration;

/// Messages taken in, or taken out, at once.
pub const BATCH_MAX: usize = 20_000;
/// Hits of one page.
pub const HITS_MAX: usize = 1_000;
/// Hits that one page may pass over.
pub const OFFSET_MAX: usize = 100_000;
/// Messages that are ranked, the newest of those that contain all words.
pub const RANKED_MAX: usize = 5_000;
/// How long a search may keep a processor busy before it answers with what it has.
pub const WORK_MAX: Duration = Duration::from_millis(200);
/// Threads that search, at most.
pub const READERS_MAX: usize = 16;
/// Directories of segments kept in memory, each about 56 KiB.
pub const DIRECTORIES_KEPT_MAX: usize = 1_024;
