//! What goes into the index, what is asked of it, and what it answers.

use protocol::Timestamp;

/// One message, as the index takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDoc {
    /// The message's row, which grows in the order of commits; indexing it again replaces it.
    pub row: i64,
    /// Its thread's row.
    pub thread_row: i64,
    /// Its number in the thread.
    pub seq: i64,
    /// The workspace of the thread.
    pub workspace: String,
    /// Who sent it.
    pub sender: String,
    /// What it is, as `MessageKind::code` says.
    pub kind: i64,
    /// When it was taken.
    pub created: Timestamp,
    /// Its body, and whatever of its metadata is to be found.
    pub text: String,
}

/// What the caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// Every thread of the workspace.
    Workspace,
    /// These threads, by row, as far as they stand in the workspace.
    Threads(Vec<i64>),
}

/// One page of one search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// Words, all of which must occur; `"a phrase"`, `begin*` and `-without` are understood.
    pub text: String,
    /// The workspace to look in.
    pub workspace: String,
    /// What the caller may see.
    pub scope: SearchScope,
    /// Only what this agent sent.
    pub sender: Option<String>,
    /// Only this thread, if the scope holds it.
    pub thread_row: Option<i64>,
    /// Only rows before this one: [`SearchPage::next`] of the page before.
    pub before: Option<i64>,
    /// Hits of one page; at least one, at most `limits::PAGE_MAX`.
    pub limit: usize,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The message's row.
    pub row: i64,
    /// Its thread's row.
    pub thread_row: i64,
    /// Its number in the thread.
    pub seq: i64,
    /// Who sent it.
    pub sender: String,
    /// What it is, as `MessageKind::code` says.
    pub kind: i64,
    /// When it was taken.
    pub created: Timestamp,
}

/// What was found, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPage {
    /// The hits.
    pub hits: Vec<SearchHit>,
    /// Where the next page begins; `None` when there is no older hit.
    pub next: Option<i64>,
    /// The search stopped before the page was full because it had worked long enough; older hits may
    /// exist, and asking from `next` looks further.
    pub truncated: bool,
}
