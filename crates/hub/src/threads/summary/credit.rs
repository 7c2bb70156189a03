//! What the resolved findings of a thread came after: every commit once, whichever findings name it.

use std::collections::{BTreeMap, BTreeSet};

use super::commits::{CommitDigests, digest_of, is_hash};
use super::finding::{Finding, State};
use super::fold::Fold;
use protocol::limits::summary as limits;

/// The commits of all resolved findings together.
#[derive(Debug, Default)]
pub(super) struct Credit<'a> {
    /// Those that may be named, in the order they were pushed.
    pub(super) named: Vec<&'a str>,
    /// How many others are known.
    pub(super) unnamed: usize,
    /// Whether there may be more that are not known.
    pub(super) has_more: bool,
}

impl Fold {
    /// What the resolved findings came after.
    pub(super) fn credit(&self, may_name: impl Fn(&str) -> bool) -> Credit<'_> {
        let resolved = || self.findings.iter().filter(|finding| finding.state == State::Resolved);
        let first_named = first_named(resolved());
        let (mut named, others): (Vec<&str>, Vec<&str>) =
            first_named.keys().copied().partition(|name| may_name(name));
        named.sort_by_key(|name| first_named.get(name));
        let further = || {
            let kept = resolved().map(|finding| &finding.commits.further);
            kept.chain([&self.forgotten_commits])
        };
        Credit {
            named,
            unnamed: others.len() + count_beyond(further(), &first_named),
            has_more: further().any(|digests| digests.has_more),
        }
    }
}

/// The commits that are kept by name, each with the `seq` and the place where it was named first.
fn first_named<'a>(findings: impl Iterator<Item = &'a Finding>) -> BTreeMap<&'a str, (i64, usize)> {
    let mut first_named: BTreeMap<&str, (i64, usize)> = BTreeMap::new();
    for finding in findings {
        for (place, (seq, name)) in finding.commits.named.iter().enumerate() {
            let at = first_named.entry(name).or_insert((*seq, place));
            *at = (*at).min((*seq, place));
        }
    }
    shortened(&first_named)
}

/// The same with each commit once, by the shortest of its names.
fn shortened<'a>(named: &BTreeMap<&'a str, (i64, usize)>) -> BTreeMap<&'a str, (i64, usize)> {
    let mut shortened: BTreeMap<&str, (i64, usize)> = BTreeMap::new();
    for (name, at) in named {
        let starts = (limits::COMMIT_HASH_BYTES_MIN..name.len()).filter_map(|len| name.get(..len));
        let known = starts.filter(|_| is_hash(name)).find(|start| named.contains_key(start));
        let first = shortened.entry(known.unwrap_or(name)).or_insert(*at);
        *first = (*first).min(*at);
    }
    shortened
}

/// How many commits are known by a digest and by no name.
fn count_beyond<'a>(
    further: impl Iterator<Item = &'a CommitDigests>,
    named: &BTreeMap<&str, (i64, usize)>,
) -> usize {
    let mut digests: BTreeSet<u64> =
        further.flat_map(|digests| digests.known.iter().copied()).collect();
    if !digests.is_empty() {
        for name in named.keys() {
            digests.remove(&digest_of(name));
        }
    }
    digests.len()
}
