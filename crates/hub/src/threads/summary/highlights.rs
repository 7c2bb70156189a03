//! The words of a thread worth reading again: what is asked, said to somebody, decided, and last.
//!
//! A question is answered, and leaves the list, when somebody else replies to it, addresses who
//! asked, or was addressed and speaks; one that addresses nobody also when the next chat message,
//! from somebody else, does not ask in turn. A mention leaves when one of the addressed speaks.

use protocol::{MessageId, MessageKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::event::Event;
use super::prose::Prose;
use super::report::Omitted;
use super::text;
use protocol::limits::summary as limits;

/// Why words are worth reading again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HighlightKind {
    /// The thread was escalated and is still blocked.
    Escalation,
    /// The latest request for another look, while a finding is unresolved.
    ReReviewRequest,
    /// A question nobody has answered.
    Question,
    /// Words to somebody who has not spoken since.
    Mention,
    /// A decision, an agreement, or what is left to do.
    Decision,
    /// The last chat message.
    LastWord,
}

/// One line of a thread: data from its sender, made safe to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Highlight {
    /// Why it is here.
    pub kind: HighlightKind,
    /// The number of its message.
    pub seq: i64,
    /// Its message.
    pub message_id: MessageId,
    /// Who said it.
    pub sender: String,
    /// Whom it addresses with `@name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// The words.
    pub text: String,
}

/// What was said, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    id: MessageId,
    seq: i64,
    sender: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    to: Vec<String>,
    text: String,
}

/// The latest notes of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Notes {
    kept: Vec<Note>,
    omitted: u64,
}

/// The words worth reading again, so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Highlights {
    questions: Notes,
    mentions: Notes,
    decisions: Notes,
    last: Option<Note>,
    re_review: Option<Note>,
    escalation: Option<Note>,
}

/// The highlights of a summary, and how many were left out.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) highlights: Vec<Highlight>,
    pub(super) omitted: Omitted,
}

impl Highlights {
    /// Takes in a message of an agent.
    pub(super) fn hear(&mut self, entry: &Entry<'_>, event: Option<Event>) {
        let sender = text::one_line(entry.sender, limits::NAME_BYTES_MAX);
        let prose = Prose::read(entry.body);
        self.settle(entry, &sender, &prose);
        let note = |to: &[String], text: String| Note {
            id: entry.message_id,
            seq: entry.seq,
            sender: sender.clone(),
            to: to.to_vec(),
            text,
        };
        let whole = || text::one_line(entry.body, limits::QUOTE_BYTES_MAX);
        match event {
            Some(Event::ReReview) => self.re_review = Some(note(&[], whole())),
            Some(Event::Escalated) => self.escalation = Some(note(&[], whole())),
            _ => {}
        }
        if entry.kind != MessageKind::Chat {
            return;
        }
        self.last = Some(note(&prose.addressees, whole()));
        let is_question = prose.question.is_some();
        if let Some(text) = prose.question {
            self.questions.push(note(&prose.addressees, text));
        }
        if let Some(text) = prose.mention.filter(|_| !is_question) {
            self.mentions.push(note(&prose.addressees, text));
        }
        if let Some(text) = prose.decision {
            self.decisions.push(note(&prose.addressees, text));
        }
    }

    /// The block is lifted: a later one has another reason.
    pub(super) fn forget_escalation(&mut self) {
        self.escalation = None;
    }

    /// Chooses what fits, the most pressing and the latest first, and puts it in order.
    pub(super) fn select(&self, status: ThreadStatus, unresolved: Unresolved) -> Selection {
        let escalation = self.escalation.iter().filter(|_| status == ThreadStatus::Blocked);
        let re_review = self.re_review.iter().filter(|_| unresolved == Unresolved::Some);
        let by_urgency = escalation
            .map(|note| (HighlightKind::Escalation, note))
            .chain(re_review.map(|note| (HighlightKind::ReReviewRequest, note)))
            .chain(self.questions.latest(HighlightKind::Question))
            .chain(self.mentions.latest(HighlightKind::Mention))
            .chain(self.decisions.latest(HighlightKind::Decision))
            .chain(self.last.iter().map(|note| (HighlightKind::LastWord, note)));
        let mut selection = Selection {
            highlights: Vec::new(),
            omitted: Omitted {
                questions: self.questions.omitted,
                mentions: self.mentions.omitted,
                decisions: self.decisions.omitted,
                ..Omitted::default()
            },
        };
        let mut bytes_left = limits::HIGHLIGHTS_BYTES_MAX;
        for (kind, note) in by_urgency {
            let is_shown = selection.highlights.iter().any(|shown| shown.seq == note.seq);
            if kind == HighlightKind::LastWord && is_shown {
                continue;
            }
            if let Some(left) = bytes_left.checked_sub(note.bytes()) {
                bytes_left = left;
                selection.highlights.push(note.highlight(kind));
            } else {
                selection.omitted.count(kind);
            }
        }
        selection.highlights.sort_by_key(|highlight| highlight.seq);
        selection
    }

    fn settle(&mut self, entry: &Entry<'_>, sender: &str, prose: &Prose) {
        let last_seq = self.last.as_ref().map(|note| note.seq);
        let is_statement = entry.kind == MessageKind::Chat && prose.question.is_none();
        self.questions.kept.retain(|question| {
            let is_addressed = question.to.iter().any(|name| name == sender);
            let is_reply = entry.in_reply_to == Some(question.id);
            let is_to_asker = prose.addressees.contains(&question.sender);
            let is_next = is_statement && question.to.is_empty() && Some(question.seq) == last_seq;
            question.sender == sender || !(is_reply || is_addressed || is_to_asker || is_next)
        });
        self.mentions.kept.retain(|mention| !mention.to.iter().any(|name| name == sender));
    }
}

/// Whether a finding is unresolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    Some,
    None,
}

impl Notes {
    fn push(&mut self, note: Note) {
        if self.kept.len() >= limits::HIGHLIGHTS_PER_KIND_MAX {
            self.kept.remove(0);
            self.omitted = self.omitted.saturating_add(1);
        }
        self.kept.push(note);
    }

    fn latest(&self, kind: HighlightKind) -> impl Iterator<Item = (HighlightKind, &Note)> {
        self.kept.iter().rev().map(move |note| (kind, note))
    }
}

impl Note {
    fn bytes(&self) -> usize {
        self.text.len() + self.sender.len() + self.to.iter().map(String::len).sum::<usize>()
    }

    fn highlight(&self, kind: HighlightKind) -> Highlight {
        Highlight {
            kind,
            seq: self.seq,
            message_id: self.id,
            sender: self.sender.clone(),
            to: self.to.clone(),
            text: self.text.clone(),
        }
    }
}
