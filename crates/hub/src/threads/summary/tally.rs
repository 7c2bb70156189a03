//! Findings as counts, for the sentence and for those no longer kept one by one.

use serde::{Deserialize, Serialize};

use super::finding::{Finding, State};

/// How many findings, blocking and not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) blocking: u64,
    pub(super) minor: u64,
}

impl Count {
    /// Both kinds together.
    pub(super) fn total(self) -> u64 {
        self.blocking.saturating_add(self.minor)
    }

    fn add(&mut self, other: Self) {
        self.blocking = self.blocking.saturating_add(other.blocking);
        self.minor = self.minor.saturating_add(other.minor);
    }
}

/// How many findings stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) open: Count,
    pub(super) fixed: Count,
    pub(super) rejected: Count,
    pub(super) resolved: Count,
    /// Those of the resolved that no commit is known for.
    pub(super) without_commit: u64,
}

impl Tally {
    /// Counts one finding.
    pub(super) fn add(&mut self, finding: &Finding) {
        let one = Count { blocking: finding.blocking.into(), minor: (!finding.blocking).into() };
        match finding.state {
            State::Open => self.open.add(one),
            State::Fixed => self.fixed.add(one),
            State::Rejected => self.rejected.add(one),
            State::Resolved => {
                self.resolved.add(one);
                self.without_commit =
                    self.without_commit.saturating_add(finding.commits.is_empty().into());
            }
        }
    }

    /// All findings.
    pub(super) fn reported(&self) -> Count {
        let mut all = self.unresolved();
        all.add(self.resolved);
        all
    }

    /// The findings that somebody still has to say something about.
    pub(super) fn unresolved(&self) -> Count {
        let mut all = self.open;
        all.add(self.fixed);
        all.add(self.rejected);
        all
    }
}
