//! The answer of `summarize_thread`: what a reader needs instead of the whole thread.

use protocol::{MessageId, ThreadStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::finding::{Finding, Remark, State};
use super::fold::Fold;
use super::highlights::{Highlight, HighlightKind, Unresolved};
use super::sentence;
use super::unlinked::{Unlinked, Weight};
use protocol::limits::summary as limits;

/// What a thread amounts to. Quoted text is data from its sender, made safe to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// One sentence.
    pub summary: String,
    /// What somebody still has to act on: blocking findings first, then others, then events that
    /// name no known finding; each group in order of `seq`.
    pub open_items: Vec<OpenItem>,
    /// Where the thread stands.
    pub last_status: ThreadStatus,
    /// The last message that this covers; read on from here.
    pub through_seq: i64,
    /// Words worth reading again, in order of `seq`.
    pub highlights: Vec<Highlight>,
    /// How many of each were left out.
    pub omitted: Omitted,
}

/// Something that somebody still has to act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenItem {
    /// The number of the message that raised it.
    pub seq: i64,
    /// That message; for a finding, the finding's id.
    pub message_id: MessageId,
    /// Where it stands.
    pub state: ItemState,
    /// Whether it must be settled before the work goes on.
    pub blocking: bool,
    /// How grave it is, as its reporter says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// `file:line`, as its reporter says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The task it belongs to, as its reporter says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Its beginning, in one line.
    pub text: String,
    /// Commits of the fix that stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// Why it stands where it does, citing the `seq` that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where an open item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// A finding without a fix, or whose fix was turned down.
    Open,
    /// A finding whose fix waits for another look.
    Fixed,
    /// A finding that was turned down, which its reporter has not accepted.
    Rejected,
    /// An event that names no known finding.
    Unlinked,
}

/// How many things a summary leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Omitted {
    /// Open items.
    pub open_items: u64,
    /// Questions, answered since or not.
    pub questions: u64,
    /// Mentions, answered since or not.
    pub mentions: u64,
    /// Decisions.
    pub decisions: u64,
    /// Other highlights: the escalation, the request for another look, the last word.
    pub others: u64,
}

impl Omitted {
    /// Counts a highlight that is left out.
    pub(super) fn count(&mut self, kind: HighlightKind) {
        let count = match kind {
            HighlightKind::Question => &mut self.questions,
            HighlightKind::Mention => &mut self.mentions,
            HighlightKind::Decision => &mut self.decisions,
            HighlightKind::Escalation
            | HighlightKind::ReReviewRequest
            | HighlightKind::LastWord => &mut self.others,
        };
        *count = count.saturating_add(1);
    }
}

impl Summary {
    /// Leaves out the highlights of messages up to a number, and counts them.
    pub fn keep_after(&mut self, seq: i64) {
        let omitted = &mut self.omitted;
        self.highlights.retain(|highlight| {
            let is_kept = highlight.seq > seq;
            if !is_kept {
                omitted.count(highlight.kind);
            }
            is_kept
        });
    }
}

impl Fold {
    /// The summary of a thread that stands at this status.
    pub fn summary(&self, status: ThreadStatus) -> Summary {
        let (open_items, open_items_omitted) = self.open_items();
        let unresolved = if self.is_unresolved() { Unresolved::Some } else { Unresolved::None };
        let selection = self.highlights.select(status, unresolved);
        Summary {
            summary: self.sentence(),
            open_items,
            last_status: status,
            through_seq: self.through_seq(),
            highlights: selection.highlights,
            omitted: Omitted { open_items: open_items_omitted, ..selection.omitted },
        }
    }

    fn sentence(&self) -> String {
        self.sentence_with(|_| true)
    }

    /// The sentence without any word of a message in it: a commit is named only where its name is
    /// 7 to 40 hexadecimal digits, and counted where it is not.
    pub fn plain_sentence(&self) -> String {
        self.sentence_with(|commit| {
            (7..=40).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit())
        })
    }

    fn sentence_with(&self, may_name: impl Fn(&str) -> bool) -> String {
        let tally = self.tally();
        if tally.reported().total() == 0 {
            return sentence::talk(self.messages, &self.voices.phrase());
        }
        sentence::findings(&tally, &self.credit(may_name))
    }

    fn open_items(&self) -> (Vec<OpenItem>, u64) {
        let (blocking, minor): (Vec<&Finding>, Vec<&Finding>) = self
            .findings
            .iter()
            .filter(|finding| finding.is_unresolved())
            .partition(|finding| finding.blocking);
        let findings = blocking.into_iter().chain(minor).filter_map(finding_item);
        let all: Vec<OpenItem> =
            findings.chain(self.unlinked.events.iter().map(unlinked_item)).collect();
        let beyond = all.len().saturating_sub(limits::OPEN_ITEMS_MAX);
        let omitted = u64::try_from(beyond)
            .unwrap_or(u64::MAX)
            .saturating_add(self.unlinked.omitted)
            .saturating_add(self.forgotten.unresolved().total());
        (all.into_iter().take(limits::OPEN_ITEMS_MAX).collect(), omitted)
    }
}

fn finding_item(finding: &Finding) -> Option<OpenItem> {
    let state = match finding.state {
        State::Open => ItemState::Open,
        State::Fixed => ItemState::Fixed,
        State::Rejected => ItemState::Rejected,
        State::Resolved => return None,
    };
    Some(OpenItem {
        seq: finding.seq,
        message_id: finding.id,
        state,
        blocking: finding.blocking,
        severity: said(&finding.severity),
        location: finding.place.location(),
        task_id: said(&finding.place.task),
        text: finding.text.clone(),
        commits: finding.commits.named.iter().map(|(_, commit)| commit.clone()).collect(),
        note: note(finding),
    })
}

fn unlinked_item(event: &Unlinked) -> OpenItem {
    let note = match event.weight {
        Weight::Rejection => {
            "rejects no known finding; who posted it should name one in metadata.finding_id"
        }
        Weight::Other => "names no known finding; nothing was moved by it",
    };
    OpenItem {
        seq: event.seq,
        message_id: event.id,
        state: ItemState::Unlinked,
        blocking: false,
        severity: None,
        location: None,
        task_id: None,
        text: event.text.clone(),
        commits: Vec::new(),
        note: Some(note.to_owned()),
    }
}

fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn note(finding: &Finding) -> Option<String> {
    let late = finding
        .after_resolution
        .map(|seq| format!("reported after the thread was resolved at seq {seq}"));
    let remark = finding.remark.map(|remark| match remark {
        Remark::SelfVerified(seq) => {
            format!("verified at seq {seq} by the author of a fix, which does not count")
        }
        Remark::VerifiedWithoutFix(seq) => format!(
            "verified at seq {seq} without a fix by another than its reporter, \
             which does not count"
        ),
        Remark::VerifiedStaleFix(seq) => {
            format!("the verification at seq {seq} answers a fix that was rejected")
        }
        Remark::FixRejected(seq) => format!("fix rejected at seq {seq}"),
        Remark::Rejected(seq) => {
            format!("rejected at seq {seq}; its reporter may accept that with finding_verified")
        }
        Remark::RejectionRejected(seq) => format!("rejection turned down at seq {seq}"),
    });
    let re_review = finding.re_review.map(|seq| format!("re-review requested at seq {seq}"));
    let notes: Vec<String> = [late, remark, re_review].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}
