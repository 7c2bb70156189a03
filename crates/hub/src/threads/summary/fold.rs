//! The state of a thread after some message, and the step that takes in the next one.

use protocol::caller::HUB_AGENT;
use protocol::thread::Dispute;
use protocol::{MessageKind, ThreadStatus};
use serde::{Deserialize, Serialize};

use super::commits::{CommitDigests, Commits, Pushed};
use super::entry::Entry;
use super::event::Event;
use super::facts::Facts;
use super::finding::{Finding, State};
use super::highlights::Highlights;
use super::link::Link;
use super::tally::Tally;
use super::text;
use super::trail::{Answers, Step, Trail};
use super::unlinked::{Unlinked, UnlinkedList, Weight};
use super::voice::{Voice, VoiceSet, Voices};
use protocol::limits::summary as limits;

/// What a thread amounts to so far.
///
/// Its JSON never exceeds [`limits::STATE_BYTES_MAX`], and taking in a message costs the same
/// after a hundred messages and after a hundred thousand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fold {
    /// The rules that made this state.
    rules: u32,
    through_seq: i64,
    pub(super) messages: u64,
    pub(super) voices: Voices,
    /// In order of `seq`.
    pub(super) findings: Vec<Finding>,
    /// The findings that are not kept one by one.
    pub(super) forgotten: Tally,
    /// The commits of the resolved ones among those.
    #[serde(default, skip_serializing_if = "CommitDigests::is_empty")]
    pub(super) forgotten_commits: CommitDigests,
    pub(super) trail: Trail,
    pub(super) unlinked: UnlinkedList,
    /// The message by which the thread was resolved, while it is.
    resolved_at: Option<i64>,
    pub(super) highlights: Highlights,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            rules: Self::RULES,
            through_seq: 0,
            messages: 0,
            voices: Voices::default(),
            findings: Vec::new(),
            forgotten: Tally::default(),
            forgotten_commits: CommitDigests::default(),
            trail: Trail::default(),
            unlinked: UnlinkedList::default(),
            resolved_at: None,
            highlights: Highlights::default(),
        }
    }
}

impl Fold {
    /// The version of the rules; it grows whenever the same messages would lead to another state.
    pub const RULES: u32 = 9;

    /// Reads a stored state. One that other rules made, or that cannot be read, is an empty one:
    /// its [`through_seq`](Self::through_seq) is 0, so the thread is taken in from the beginning.
    pub fn from_json(json: &str) -> Self {
        match serde_json::from_str::<Self>(json) {
            Ok(fold) if fold.rules == Self::RULES => fold,
            _ => Self::default(),
        }
    }

    /// The state as it is stored.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("the state holds text and numbers under text keys")
    }

    /// The last message taken in; 0 before the first.
    pub fn through_seq(&self) -> i64 {
        self.through_seq
    }

    /// Takes in the next message. One that was taken in before changes nothing.
    pub fn apply(&mut self, entry: &Entry<'_>) {
        if entry.seq <= self.through_seq {
            return;
        }
        self.through_seq = entry.seq;
        let facts = match entry.kind {
            MessageKind::System => return self.hear_hub(entry),
            MessageKind::Chat => Facts::default(),
            MessageKind::Event => Facts::read(entry.metadata),
        };
        let event = facts.event();
        let by = self.voices.of(entry.sender);
        self.messages = self.messages.saturating_add(1);
        self.highlights.hear(entry, event);
        match event {
            Some(Event::Reported) => self.report(entry, by, &facts),
            Some(Event::Resolved) => {
                // The hub's word about it comes right after.
                self.resolved_at = self.resolved_at.or(Some(entry.seq));
                self.pass_on(entry);
            }
            Some(Event::Escalated) | None => self.pass_on(entry),
            Some(event) => self.answer(event, entry, by, &facts),
        }
    }

    /// Whether anything is still argued about. A thread is disputed while
    /// - a finding, blocking or not, is open: reported, or its fix was turned down;
    /// - a finding is fixed and the fix has not been verified by somebody else;
    /// - a finding is rejected and its reporter has not accepted that (by `finding_verified`), nor
    ///   has a fix been pushed and verified all the same;
    /// - a rejection could not be linked to a finding, and who rejected has not since reported,
    ///   verified or rejected something that could.
    ///
    /// Fixes and verifications that could not be linked move nothing, so they neither make nor
    /// settle a dispute. Events about the thread's status do not settle findings: a finding that
    /// comes after `thread_resolved` makes the thread disputed again.
    pub fn dispute(&self) -> Dispute {
        if self.is_unresolved() || self.unlinked.has_rejection() {
            return Dispute::Disputed;
        }
        Dispute::Settled
    }

    /// The finding with this number, if it is kept one by one.
    pub(super) fn finding(&self, seq: i64) -> Option<&Finding> {
        let at = self.findings.binary_search_by_key(&seq, |finding| finding.seq).ok()?;
        self.findings.get(at)
    }

    /// How many findings stand where.
    pub(super) fn tally(&self) -> Tally {
        let mut tally = self.forgotten;
        self.findings.iter().for_each(|finding| tally.add(finding));
        tally
    }

    /// Whether any finding is unresolved, kept or not.
    pub(super) fn is_unresolved(&self) -> bool {
        self.forgotten.unresolved().total() > 0 || self.findings.iter().any(Finding::is_unresolved)
    }

    /// The hub speaks in its own name where it moves a thread. An agent that says the same in an
    /// event moves nothing.
    fn hear_hub(&mut self, entry: &Entry<'_>) {
        if entry.sender != HUB_AGENT {
            return;
        }
        let Some(to) = Facts::read(entry.metadata).moved_to() else { return };
        self.resolved_at = match to {
            ThreadStatus::Resolved => self.resolved_at.or(Some(entry.seq)),
            ThreadStatus::Closed => self.resolved_at,
            ThreadStatus::Active | ThreadStatus::Blocked => None,
        };
        if to != ThreadStatus::Blocked {
            self.highlights.forget_escalation();
        }
    }

    fn report(&mut self, entry: &Entry<'_>, by: Voice, facts: &Facts) {
        self.findings.push(Finding {
            id: entry.message_id,
            seq: entry.seq,
            reporter: by,
            state: State::Open,
            blocking: facts.is_blocking(),
            severity: facts.severity(),
            place: facts.place(),
            label: facts.label(),
            text: text::one_line(entry.body, limits::QUOTE_BYTES_MAX),
            fixers: VoiceSet::default(),
            commits: Commits::default(),
            opened: entry.seq,
            fixed: None,
            rejecter: None,
            remark: None,
            re_review: None,
            after_resolution: self.resolved_at,
        });
        self.unlinked.clear_rejections_of(by);
        while self.findings.len() > limits::FINDINGS_MAX {
            self.forget_one();
        }
    }

    /// Makes the least urgent finding a mere count: a resolved one if there is any, else one that
    /// blocks nothing, and the oldest of those. An unresolved one keeps the thread disputed.
    fn forget_one(&mut self) {
        let urgency = |finding: &Finding| match (finding.state, finding.blocking) {
            (State::Resolved, _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        };
        let Some(at) =
            (0..self.findings.len()).min_by_key(|at| self.findings.get(*at).map(urgency))
        else {
            return;
        };
        let gone = self.findings.remove(at);
        self.forgotten.add(&gone);
        if gone.state == State::Resolved {
            self.forgotten_commits.add_all(&gone.commits);
        }
    }

    fn answer(&mut self, event: Event, entry: &Entry<'_>, by: Voice, facts: &Facts) {
        let link = self.link(event, entry, facts);
        let was_unresolved = self.is_unresolved();
        if !link.findings.is_empty() && matches!(event, Event::Verified | Event::Rejected) {
            self.unlinked.clear_rejections_of(by);
        }
        self.list_unlinked(event, entry, by, &link);
        let pushed = match event {
            Event::Fix => pushed_by(entry, facts),
            _ => Pushed::default(),
        };
        for number in &link.findings {
            let answered = link.answered.as_ref().filter(|step| step.findings.contains(number));
            let at = self.findings.binary_search_by_key(number, |finding| finding.seq).ok();
            let Some(finding) = at.and_then(|at| self.findings.get_mut(at)) else { continue };
            match event {
                Event::Fix => finding.fix(entry.seq, by, &pushed),
                Event::Verified => finding.verify(entry.seq, by, answered),
                Event::Rejected => finding.reject(entry.seq, by, facts.scope(), answered),
                _ => finding.re_review = Some(entry.seq),
            }
        }
        if was_unresolved && !self.is_unresolved() {
            self.unlinked.clear_others();
        }
        self.trail.push(step_of(event, entry, link));
    }

    /// Lists an event that names something unknown, or nothing while something waits. A rejection
    /// is always listed; a request for another look moves nothing and never is.
    fn list_unlinked(&mut self, event: Event, entry: &Entry<'_>, by: Voice, link: &Link) {
        let weight = if event == Event::Rejected { Weight::Rejection } else { Weight::Other };
        let is_placed = !link.findings.is_empty() && !link.names_unknown;
        let is_moot = weight == Weight::Other && !link.names_unknown && !self.is_unresolved();
        if is_placed || is_moot || event == Event::ReReview {
            return;
        }
        self.unlinked.push(Unlinked {
            id: entry.message_id,
            seq: entry.seq,
            by,
            weight,
            text: text::one_line(entry.body, limits::QUOTE_BYTES_MAX),
        });
    }

    /// A message that answers something leads where that leads.
    fn pass_on(&mut self, entry: &Entry<'_>) {
        let answered = entry.in_reply_to.and_then(|id| self.step(id));
        if let Some(step) = answered.filter(|step| !step.findings.is_empty()) {
            self.trail.push(Step { id: entry.message_id, seq: entry.seq, ..step });
        }
    }
}

/// The commits of a fix: those its metadata names, else those its text speaks of.
fn pushed_by(entry: &Entry<'_>, facts: &Facts) -> Pushed {
    match facts.commits() {
        named if named.is_empty() => text::commits_in(entry.body).collect(),
        named => named,
    }
}

/// What a reply to this event will be an answer to.
fn step_of(event: Event, entry: &Entry<'_>, link: Link) -> Step {
    let answered = link.answered.filter(|step| step.answers == Answers::Fix);
    let (answers, about) = match (event, answered) {
        (Event::Rejected, _) => (Answers::Rejection, entry.seq),
        (Event::Fix, _) | (_, None) => (Answers::Fix, entry.seq),
        (_, Some(step)) => (Answers::Fix, step.about),
    };
    Step { id: entry.message_id, seq: entry.seq, answers, about, findings: link.findings }
}
