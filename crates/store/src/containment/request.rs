//! What goes into the index, what is asked of it, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use protocol::Timestamp;

/// One message, as the index takes it.
#[derive(Clone, PartialEq, Eq)]
pub struct ContainmentDoc {
    /// The message's row; indexing it again replaces it.
    pub row: i64,
    /// Its thread's row. A message never moves to another thread.
    pub thread_row: i64,
    /// The workspace of the thread.
    pub workspace: Arc<str>,
    /// Who sent it.
    pub sender: Arc<str>,
    /// What it holds, as a code of the caller's.
    pub content_type: u16,
    /// When it was sent.
    pub sent: Timestamp,
    /// What can be found in it, as it was written.
    pub text: String,
}

/// A message that must not be found any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedDoc {
    /// The message's row.
    pub row: i64,
    /// Its thread's row.
    pub thread_row: i64,
}

/// How far the index has followed the two logs that feed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// The row of the last message taken in, with all before it.
    pub upto: i64,
    /// The last edit or deletion taken in, with all before it.
    pub changes_upto: i64,
}

/// What the caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainmentScope {
    /// Every thread of the workspace.
    Workspace,
    /// These threads, by row, as far as they stand in the workspace.
    Threads(Vec<i64>),
}

/// Which messages are looked at; all conditions must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainmentFilter {
    /// The workspace to look in.
    pub workspace: String,
    /// What the caller may see of it.
    pub scope: ContainmentScope,
    /// Threads, by row, that are left out whatever the scope says.
    pub denied_threads: Vec<i64>,
    /// Only what one of these sent; an empty list finds nothing.
    pub senders: Option<Vec<String>>,
    /// Only what has one of these codes; an empty list finds nothing.
    pub content_types: Option<Vec<u16>>,
    /// Only what was sent then or later.
    pub since: Option<Timestamp>,
    /// Only what was sent earlier.
    pub before: Option<Timestamp>,
}

impl ContainmentFilter {
    /// Everything in a workspace.
    pub fn of_workspace(workspace: &str) -> Self {
        Self {
            workspace: workspace.to_owned(),
            scope: ContainmentScope::Workspace,
            denied_threads: Vec::new(),
            senders: None,
            content_types: None,
            since: None,
            before: None,
        }
    }
}

/// A message's place in the order of answers, which go from the newest to the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When it was sent.
    pub sent: Timestamp,
    /// Its row, which decides among messages of the same moment.
    pub row: i64,
}

/// One page of messages that contain a text.
#[derive(Clone, PartialEq, Eq)]
pub struct ContainmentQuery {
    /// What they must contain, whatever its case; nothing means all messages.
    pub needle: String,
    /// Which messages are looked at.
    pub filter: ContainmentFilter,
    /// Only what is older than this place: [`ContainmentPage::next`] of the page before.
    pub after: Option<Place>,
    /// Hits of one page; at least one, at most `limits::containment::HITS_MAX`.
    pub limit: usize,
    /// Hits to pass over, at most `limits::containment::OFFSET_MAX`.
    pub offset: usize,
    /// How long the search may keep a processor busy; at most `limits::containment::WORK_MAX`.
    pub work_max: Duration,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainmentHit {
    /// The message's row.
    pub row: i64,
    /// Its thread's row.
    pub thread_row: i64,
    /// When it was sent.
    pub sent: Timestamp,
    /// Who sent it.
    pub sender: String,
    /// What it holds, as a code of the caller's.
    pub content_type: u16,
}

/// What was found, newest first by the time it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainmentPage {
    /// The hits.
    pub hits: Vec<ContainmentHit>,
    /// Where the next page begins; `None` when everything has been looked at.
    pub next: Option<Place>,
    /// The search stopped before the page was full because it had worked long enough; older hits
    /// may exist, and asking from `next` looks further.
    pub truncated: bool,
    /// Hits still to be passed over when going on from `next`; zero unless the search was
    /// truncated.
    pub offset_left: usize,
}

/// The best messages that contain all words of a text.
#[derive(Clone, PartialEq, Eq)]
pub struct RankedQuery {
    /// Words, separated by white space; each may stand inside a longer one.
    pub text: String,
    /// Which messages are looked at.
    pub filter: ContainmentFilter,
    /// Hits wanted; at least one, at most `limits::containment::HITS_MAX`.
    pub limit: usize,
    /// How long the search may keep a processor busy; at most `limits::containment::WORK_MAX`.
    pub work_max: Duration,
}

/// A message that was found, with how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedHit {
    /// The message.
    pub hit: ContainmentHit,
    /// How well it fits; comparable within one answer only.
    pub score: f64,
}

/// What was found, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedPage {
    /// The hits.
    pub hits: Vec<RankedHit>,
    /// Not all messages that contain the words were ranked: there were more than
    /// `limits::containment::RANKED_MAX` of them, or the search had worked long enough.
    pub truncated: bool,
}
