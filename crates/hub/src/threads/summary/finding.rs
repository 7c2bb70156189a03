//! A finding and the four states it moves through.
//!
//! open → (fix) → fixed → (verified) → resolved. A rejection of the fix leads back to open, a
//! rejection of the finding to rejected. Who may verify depends on whether a fix stands:
//! - with a fix: anybody who never pushed a fix for this finding;
//! - without one: only its reporter, who thereby withdraws it or accepts its rejection, whether or
//!   not one of the fixes that were turned down was the reporter's own.
//!
//! A verification that does not count moves nothing and leaves a [`Remark`].

use protocol::MessageId;
use serde::{Deserialize, Serialize};

use super::commits::{Commits, Pushed};
use super::facts::{Place, Scope};
use super::trail::{Answers, Step};
use super::voice::{Voice, VoiceSet};

/// Where a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Nobody has answered it, or the fix was turned down.
    Open,
    /// A fix stands and waits for another look.
    Fixed,
    /// Somebody says that it is none, and its reporter has not agreed.
    Rejected,
    /// Verified; only a rejection of its fix opens it again.
    Resolved,
}

/// Why a finding stands where it does, with the `seq` that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Remark {
    /// The author of a fix verified it.
    SelfVerified(i64),
    /// Somebody else than the reporter verified it while no fix stood.
    VerifiedWithoutFix(i64),
    /// The verification answers a fix that had been turned down.
    VerifiedStaleFix(i64),
    /// The fix was turned down.
    FixRejected(i64),
    /// The finding was turned down.
    Rejected(i64),
    /// The rejection was turned down.
    RejectionRejected(i64),
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Finding {
    pub(super) id: MessageId,
    pub(super) seq: i64,
    pub(super) reporter: Voice,
    pub(super) state: State,
    pub(super) blocking: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) severity: String,
    #[serde(flatten)]
    pub(super) place: Place,
    /// The reporter's own name for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) label: String,
    pub(super) text: String,
    /// Everybody who pushed a fix.
    #[serde(default, skip_serializing_if = "VoiceSet::is_empty")]
    pub(super) fixers: VoiceSet,
    /// Commits of the standing fix.
    #[serde(default, skip_serializing_if = "Commits::is_empty")]
    pub(super) commits: Commits,
    /// When it was last opened; fixes before that no longer stand.
    pub(super) opened: i64,
    /// The latest fix, while it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fixed: Option<i64>,
    /// Who turned the finding down, while that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rejecter: Option<Voice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) remark: Option<Remark>,
    /// The latest request for another look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) re_review: Option<i64>,
    /// The resolution of the thread that it came after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after_resolution: Option<i64>,
}

impl Finding {
    /// Whether somebody still has to say something.
    pub(super) fn is_unresolved(&self) -> bool {
        self.state != State::Resolved
    }

    /// A fix was pushed. On a resolved finding it changes nothing.
    pub(super) fn fix(&mut self, seq: i64, by: Voice, pushed: &Pushed) {
        if self.state == State::Resolved {
            return;
        }
        self.state = State::Fixed;
        self.fixed = Some(seq);
        self.rejecter = None;
        self.remark = None;
        self.fixers.add(by);
        self.commits.add(seq, pushed);
    }

    /// Somebody says that it is done; the module's documentation says whose word counts.
    pub(super) fn verify(&mut self, seq: i64, by: Voice, answered: Option<&Step>) {
        let is_author = self.fixers.may_hold(by);
        let objection = match self.state {
            State::Resolved => return,
            State::Fixed if is_author => Some(Remark::SelfVerified(seq)),
            State::Fixed if self.is_stale(answered) => Some(Remark::VerifiedStaleFix(seq)),
            State::Open | State::Rejected if !self.reporter.is_surely(by) => {
                Some(Remark::VerifiedWithoutFix(seq))
            }
            // Who praises its own fix after that was turned down does not withdraw the finding.
            State::Open if is_author && self.is_stale(answered) => {
                Some(Remark::VerifiedStaleFix(seq))
            }
            State::Fixed | State::Open | State::Rejected => None,
        };
        self.remark = objection;
        if objection.is_none() {
            self.state = State::Resolved;
            self.rejecter = None;
        }
    }

    /// Somebody turns something down. What, is decided in this order:
    /// 1. `metadata.scope` says `fix` or `finding`;
    /// 2. it answers, directly or through replies, a fix (or a word about one), the finding, or
    ///    an earlier rejection;
    /// 3. the fix if one stands, else the finding.
    ///
    /// A rejected fix opens the finding again, even a resolved one, unless it is a fix that had
    /// been turned down before. A rejected finding is `rejected`, unless it is resolved already.
    /// A rejected rejection of the finding, by another than who rejected, opens it again.
    pub(super) fn reject(
        &mut self,
        seq: i64,
        by: Voice,
        scope: Option<Scope>,
        answered: Option<&Step>,
    ) {
        let standing = if self.fixed.is_some() { Answers::Fix } else { Answers::Finding };
        let turned_down = match scope {
            Some(Scope::Fix) => Answers::Fix,
            Some(Scope::Finding) => Answers::Finding,
            None => answered.map_or(standing, |step| step.answers),
        };
        match turned_down {
            Answers::Fix if self.fixed.is_some() && !self.is_stale(answered) => {
                self.open_again(seq, State::Open, Remark::FixRejected(seq));
            }
            Answers::Finding if matches!(self.state, State::Open | State::Fixed) => {
                self.open_again(seq, State::Rejected, Remark::Rejected(seq));
                self.rejecter = Some(by);
            }
            Answers::Rejection if self.rejecter.is_some_and(|rejecter| !rejecter.may_be(by)) => {
                self.open_again(seq, State::Open, Remark::RejectionRejected(seq));
            }
            Answers::Fix | Answers::Finding | Answers::Rejection => {}
        }
    }

    /// No fix stands any more, so no commit is credited either.
    fn open_again(&mut self, seq: i64, state: State, remark: Remark) {
        self.state = state;
        self.opened = seq;
        self.fixed = None;
        self.rejecter = None;
        self.re_review = None;
        self.remark = Some(remark);
        self.commits = Commits::default();
    }

    /// Whether this answers a fix from before the finding was last opened.
    fn is_stale(&self, answered: Option<&Step>) -> bool {
        answered.is_some_and(|step| step.answers == Answers::Fix && step.about < self.opened)
    }
}
