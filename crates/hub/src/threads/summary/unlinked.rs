//! Events that name no finding the fold knows. They are listed and never guessed at.

use protocol::MessageId;
use serde::{Deserialize, Serialize};

use super::voice::Voice;
use protocol::limits::summary as limits;

/// One such event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Unlinked {
    pub(super) id: MessageId,
    pub(super) seq: i64,
    pub(super) by: Voice,
    pub(super) weight: Weight,
    pub(super) text: String,
}

/// Whether it leaves the thread disputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Weight {
    /// A rejection: somebody disagrees, with what is unclear.
    Rejection,
    /// A fix or a verification: it moves nothing.
    Other,
}

/// The latest such events; rejections are kept longest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UnlinkedList {
    pub(super) events: Vec<Unlinked>,
    /// How many were left out.
    pub(super) omitted: u64,
}

impl UnlinkedList {
    /// Adds an event.
    pub(super) fn push(&mut self, event: Unlinked) {
        self.events.push(event);
        if self.events.len() > limits::UNLINKED_MAX {
            let lightest = self.events.iter().position(|event| event.weight == Weight::Other);
            self.events.remove(lightest.unwrap_or(0));
            self.omitted = self.omitted.saturating_add(1);
        }
    }

    /// Whether somebody disagrees with something unclear.
    pub(super) fn has_rejection(&self) -> bool {
        self.events.iter().any(|event| event.weight == Weight::Rejection)
    }

    /// This sender has now said precisely what it means.
    pub(super) fn clear_rejections_of(&mut self, by: Voice) {
        self.events.retain(|event| event.weight != Weight::Rejection || !event.by.is_surely(by));
    }

    /// Every finding is resolved, so what was meant no longer matters.
    pub(super) fn clear_others(&mut self) {
        self.events.retain(|event| event.weight == Weight::Rejection);
        self.omitted = 0;
    }
}
