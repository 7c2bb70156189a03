//! Which message leads to which findings, so that a reply to a reply finds its finding in one step.

use std::collections::VecDeque;

use protocol::MessageId;
use serde::{Deserialize, Serialize};

use protocol::limits::summary as limits;

/// What a reply to a message is an answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answers {
    /// The finding itself.
    Finding,
    /// A fix, or a word about one: a verification or a request for another look.
    Fix,
    /// A rejection.
    Rejection,
}

/// A message that leads to findings, or is known to lead to none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) id: MessageId,
    pub(super) seq: i64,
    pub(super) answers: Answers,
    /// The `seq` of the finding, fix or rejection that it comes down to.
    pub(super) about: i64,
    /// The findings, by `seq`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<i64>,
}

impl Step {
    fn weight(&self) -> usize {
        self.findings.len()
    }
}

/// The latest steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Trail(VecDeque<Step>);

impl Trail {
    /// Adds a step and forgets the oldest beyond the limits.
    pub(super) fn push(&mut self, step: Step) {
        self.0.push_back(step);
        let mut weight: usize = self.0.iter().map(Step::weight).sum();
        while self.0.len() > limits::TRAIL_STEPS_MAX || weight > limits::TRAIL_TARGETS_MAX {
            let Some(oldest) = self.0.pop_front() else { break };
            weight -= oldest.weight();
        }
    }

    /// The step of this message.
    pub(super) fn by_id(&self, id: MessageId) -> Option<&Step> {
        self.0.iter().rev().find(|step| step.id == id)
    }

    /// The step with this number.
    pub(super) fn by_seq(&self, seq: i64) -> Option<&Step> {
        self.0.binary_search_by_key(&seq, |step| step.seq).ok().and_then(|at| self.0.get(at))
    }
}
