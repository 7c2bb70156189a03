//! Commits as they are kept: the first of a finding by name, those beyond by a digest. A mere count
//! would grow each time a commit is named again.
//!
//! A hash may be named short and another time whole: a name that begins another is the same commit,
//! and the shorter one is kept. Digests cannot be compared so; that of a hash is of its first digits.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{digest, text};
use protocol::limits::summary as limits;

/// The commits that one fix names, each once.
#[derive(Debug, Default)]
pub(super) struct Pushed {
    names: Vec<String>,
    /// Whether it names more than are read.
    has_more: bool,
}

impl Pushed {
    /// Whether it names none.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl FromIterator<String> for Pushed {
    fn from_iter<I: IntoIterator<Item = String>>(named: I) -> Self {
        let mut pushed = Self::default();
        for name in named {
            if let Some(known) = pushed.names.iter_mut().find(|known| is_same(known, &name)) {
                keep_shorter(known, &name);
                continue;
            }
            if pushed.names.len() >= limits::EVENT_COMMITS_MAX {
                pushed.has_more = true;
                break;
            }
            pushed.names.push(name);
        }
        pushed
    }
}

/// The commits of the fix that a finding has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Commits {
    /// The first, each with the `seq` that named it.
    pub(super) named: Vec<(i64, String)>,
    /// Those beyond.
    #[serde(default, skip_serializing_if = "CommitDigests::is_empty")]
    pub(super) further: CommitDigests,
}

impl Commits {
    /// Whether none is known.
    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Adds those of a fix.
    pub(super) fn add(&mut self, seq: i64, pushed: &Pushed) {
        for name in &pushed.names {
            if let Some((_, known)) = self.named.iter_mut().find(|(_, known)| is_same(known, name))
            {
                keep_shorter(known, name);
                continue;
            }
            if self.named.len() < limits::FINDING_COMMITS_MAX {
                self.named.push((seq, name.clone()));
            } else {
                self.further.add(digest_of(name), limits::FINDING_COMMIT_DIGESTS_MAX);
            }
        }
        self.further.has_more |= pushed.has_more;
    }
}

/// Whether these name one commit.
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short == long || (is_hash(short) && is_hash(long) && long.starts_with(short))
}

/// What a commit that is not kept by name is known by.
pub(super) fn digest_of(name: &str) -> u64 {
    let start = text::head(name, limits::COMMIT_HASH_BYTES_MIN);
    // Revisions that are numbers begin alike when they are neighbours.
    let is_number = start.bytes().all(|b| b.is_ascii_digit());
    digest::of(if is_hash(name) && !is_number { start } else { name })
}

/// Whether a name is a hash, or the beginning of one.
pub(super) fn is_hash(name: &str) -> bool {
    name.len() >= limits::COMMIT_HASH_BYTES_MIN && name.bytes().all(|b| b.is_ascii_hexdigit())
}

fn keep_shorter(known: &mut String, name: &str) {
    if name.len() < known.len() {
        name.clone_into(known);
    }
}

/// Commits that are known by a digest alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CommitDigests {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) known: BTreeSet<u64>,
    /// Whether there may be others, for which there was no room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_more: bool,
}

impl CommitDigests {
    /// Adds those of a finding that is no longer kept.
    pub(super) fn add_all(&mut self, commits: &Commits) {
        let named = commits.named.iter().map(|(_, name)| digest_of(name));
        for digest in named.chain(commits.further.known.iter().copied()) {
            self.add(digest, limits::FORGOTTEN_COMMITS_MAX);
        }
        self.has_more |= commits.further.has_more;
    }

    /// Whether there is nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.has_more
    }

    fn add(&mut self, digest: u64, count_max: usize) {
        if self.known.len() < count_max {
            self.known.insert(digest);
        } else {
            self.has_more |= !self.known.contains(&digest);
        }
    }
}
