//! Every maximum of a summary and of the state behind it. Units stand last in the name.

/// Findings kept one by one; beyond, the least urgent become mere counts.
pub const FINDINGS_MAX: usize = 200;
/// Commits kept of one finding by name.
pub const FINDING_COMMITS_MAX: usize = 8;
/// Commits of one finding beyond those, known by a digest; with them as many as one event may name.
pub const FINDING_COMMIT_DIGESTS_MAX: usize = EVENT_COMMITS_MAX - FINDING_COMMITS_MAX;
/// Commits of resolved findings that are mere counts, known by a digest; beyond these and those of
/// one finding, a sentence says "at least".
pub const FORGOTTEN_COMMITS_MAX: usize = 1_024;
/// Events and replies remembered so that a reply to them finds its finding.
pub const TRAIL_STEPS_MAX: usize = 512;
/// Findings that all remembered events and replies point to, together.
pub const TRAIL_TARGETS_MAX: usize = 2_048;
/// Findings one event may name; those beyond are not read.
pub const EVENT_REFERENCES_MAX: usize = 200;
/// Commits read from one event.
pub const EVENT_COMMITS_MAX: usize = 32;
/// Events that name no known finding, as far as they are listed.
pub const UNLINKED_MAX: usize = 16;
/// Senders told apart; those beyond count as one, which is never trusted to be somebody else.
pub const VOICES_MAX: usize = 256;

/// Questions, mentions or decisions kept, of each the latest.
pub const HIGHLIGHTS_PER_KIND_MAX: usize = 8;
/// Agents one message is read as addressing.
pub const ADDRESSEES_MAX: usize = 4;
/// The highlights of one summary, as their text and names.
pub const HIGHLIGHTS_BYTES_MAX: usize = 3 * 1024;
/// Open items of one summary.
pub const OPEN_ITEMS_MAX: usize = 50;
/// Commits named in the sentence; further ones are counted.
pub const SENTENCE_COMMITS_MAX: usize = 5;

/// How much of a body is looked at.
pub const BODY_SCAN_BYTES_MAX: usize = 16 * 1024;
/// Quoted text.
pub const QUOTE_BYTES_MAX: usize = 160;
/// A file's name; a longer one keeps its end.
pub const FILE_BYTES_MAX: usize = 160;
/// A task's id, a finding's label, a severity or a line number.
pub const TAG_BYTES_MAX: usize = 40;
/// A sender's or addressee's name.
pub const NAME_BYTES_MAX: usize = 128;
/// A commit; a longer hash keeps its beginning.
pub const COMMIT_BYTES_MAX: usize = 24;
/// The fewest digits that name a commit by its hash.
pub const COMMIT_HASH_BYTES_MIN: usize = 7;
/// A commit's hash, as far as it is kept.
pub const COMMIT_HASH_BYTES_MAX: usize = 12;

/// The state of one thread as JSON.
pub const STATE_BYTES_MAX: usize = 512 * 1024;
