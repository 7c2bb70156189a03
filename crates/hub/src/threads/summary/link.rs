//! Which findings an event is about. The first rule that applies decides:
//! 1. it names them: `finding_id`, `finding_ids` or `fixes` hold message ids, the label a finding
//!    was reported with, or numbers (`seq`); what may be both is a label, because who numbers
//!    findings goes on by those numbers; a name nobody knows is never replaced by a guess;
//! 2. it answers, directly or through replies, something that leads to findings;
//! 3. it says the place (task, file, line) of exactly one finding that it can be about;
//! 4. there is only one finding that it can be about: for a fix the only open one, else the only
//!    unresolved one, and when all are resolved the only one ever reported.
//!
//! Otherwise it is unlinked.

use protocol::MessageId;

use super::entry::Entry;
use super::event::Event;
use super::facts::{Facts, Place, Reference};
use super::finding::{Finding, State};
use super::fold::Fold;
use super::trail::{Answers, Step};

/// What an event is about.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// The findings, by `seq`.
    pub(super) findings: Vec<i64>,
    /// What it answers.
    pub(super) answered: Option<Step>,
    /// Whether it names something that is not known.
    pub(super) names_unknown: bool,
}

/// What looking at a place, or at all findings, came to.
enum Choice {
    /// Nothing is there.
    Nothing,
    /// Exactly one finding.
    One(i64),
    /// Several, and no rule to choose.
    Several,
}

impl Fold {
    /// Finds what the event is about.
    pub(super) fn link(&self, event: Event, entry: &Entry<'_>, facts: &Facts) -> Link {
        let mut link = self.link_by_rule(event, entry, facts);
        // A finding that is a mere count by now only matters while such a count is unresolved, and to
        // who rejects its fix: that would open even a resolved one again.
        let may_open = event == Event::Rejected
            && link.answered.as_ref().is_none_or(|step| step.answers == Answers::Fix);
        if may_open || self.forgotten.unresolved().total() > 0 {
            link.names_unknown |= link.findings.iter().any(|seq| self.finding(*seq).is_none());
        }
        link
    }

    fn link_by_rule(&self, event: Event, entry: &Entry<'_>, facts: &Facts) -> Link {
        let answered = entry.in_reply_to.and_then(|id| self.step(id));
        let references = facts.references();
        if !references.is_empty() {
            return self.link_named(&references, answered);
        }
        let findings = match &answered {
            Some(step) if !step.findings.is_empty() => step.findings.clone(),
            _ => match self.choose_at(event, &facts.place()) {
                Choice::One(seq) => vec![seq],
                Choice::Several => Vec::new(),
                // An answer to an event that could not be placed cannot be placed either.
                Choice::Nothing if answered.is_some() || event == Event::ReReview => Vec::new(),
                Choice::Nothing => self.choose_only(event, &facts.place()).into_iter().collect(),
            },
        };
        Link { findings, answered, names_unknown: false }
    }

    /// Where a reply to this message leads.
    pub(super) fn step(&self, id: MessageId) -> Option<Step> {
        let finding = self.findings.iter().rev().find(|finding| finding.id == id);
        match finding {
            Some(finding) => Some(Step {
                id,
                seq: finding.seq,
                answers: Answers::Finding,
                about: finding.seq,
                findings: vec![finding.seq],
            }),
            None => self.trail.by_id(id).cloned(),
        }
    }

    fn link_named(&self, references: &[Reference], answered: Option<Step>) -> Link {
        let mut link = Link { answered, ..Link::default() };
        for reference in references {
            let named = match reference {
                Reference::Id(id) => self.step(*id).map(|step| step.findings).unwrap_or_default(),
                Reference::Word(word) => self.named(word),
                Reference::Unreadable => Vec::new(),
            };
            link.names_unknown |= named.is_empty();
            link.findings.extend(named);
        }
        link.findings.sort_unstable();
        link.findings.dedup();
        link
    }

    /// The findings a word names: as a label, which must be one finding's alone, else as a number.
    fn named(&self, word: &str) -> Vec<i64> {
        let mut labelled = self.findings.iter().filter(|finding| finding.label == word);
        match (labelled.next(), labelled.next()) {
            (Some(only), None) => vec![only.seq],
            (Some(_), Some(_)) => Vec::new(),
            (None, _) => self.numbered(word.strip_prefix('#').unwrap_or(word)),
        }
    }

    /// The findings that the message of this number is or leads to.
    fn numbered(&self, number: &str) -> Vec<i64> {
        let Ok(seq) = number.parse() else { return Vec::new() };
        match (self.finding(seq), self.trail.by_seq(seq)) {
            (Some(finding), _) => vec![finding.seq],
            (None, Some(step)) => step.findings.clone(),
            (None, None) => Vec::new(),
        }
    }

    fn choose_at(&self, event: Event, place: &Place) -> Choice {
        choose(event, self.findings.iter().filter(|finding| finding.place.is_same(place)))
    }

    fn choose_only(&self, event: Event, place: &Place) -> Option<i64> {
        let kept = self.findings.iter().filter(|finding| finding.place.may_share_task(place));
        let Choice::One(seq) = choose(event, kept) else { return None };
        // Findings that are mere counts by now might have been meant as well.
        let forgotten = match self.finding(seq) {
            Some(finding) if finding.is_unresolved() => self.forgotten.unresolved(),
            _ => self.forgotten.reported(),
        };
        (forgotten.total() == 0).then_some(seq)
    }
}

fn choose<'a>(event: Event, candidates: impl Iterator<Item = &'a Finding>) -> Choice {
    let candidates: Vec<&Finding> = candidates.collect();
    let narrow = |keep: fn(&Finding) -> bool| -> Vec<i64> {
        candidates.iter().filter(|finding| keep(finding)).map(|finding| finding.seq).collect()
    };
    let open = narrow(|finding| finding.state == State::Open);
    let unresolved = narrow(Finding::is_unresolved);
    let chosen = match (event, open.is_empty(), unresolved.is_empty()) {
        (Event::Fix, false, _) => open,
        (_, _, false) => unresolved,
        (_, _, true) => narrow(|_| true),
    };
    match chosen.as_slice() {
        [] => Choice::Nothing,
        [seq] => Choice::One(*seq),
        _ => Choice::Several,
    }
}
