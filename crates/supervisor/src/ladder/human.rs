//! The human at a session: who is typing is waited for, and what was typed is never touched.

use super::{Ladder, Step};
use crate::session::{Activity, Human, Lane, Seen};

/// A turn runs; the name that lanes and hub have for it.
pub(super) const TURN_RUNNING: &str = "turn_running";
const HUMAN_INPUT_BUSY: &str = "human_input_busy";
const DIALOG_OPEN: &str = "dialog_open";

/// Whether a lane may be used now.
pub(super) enum Gate {
    /// Yes.
    Open,
    /// Not before this step.
    Ask(Step),
    /// No longer: another rung must do.
    Shut(&'static str),
}

impl Ladder {
    /// Whether the human at a session leaves this lane free.
    pub(super) fn human_gate(&mut self, lane: Lane, seen: &Seen, now_ms: i64) -> Gate {
        let Some(reason) = self.obstacle(lane, seen) else { return Gate::Open };
        if self.terms.courtesy.fail_on_human_input {
            return Gate::Ask(Step::Fail { reason, is_final: true });
        }
        if !self.is_deferral_over(now_ms) {
            return Gate::Ask(self.defer(reason, now_ms));
        }
        if lane.is_native() {
            // It never touches the line, so the human loses nothing.
            return Gate::Open;
        }
        Gate::Shut(reason)
    }

    /// What stands in the way, if anything.
    fn obstacle(&self, lane: Lane, seen: &Seen) -> Option<&'static str> {
        if seen.activity == Activity::Dialog {
            return Some(DIALOG_OPEN);
        }
        let is_skipped = match seen.human {
            Human::Unseen => true,
            Human::Quiet(calm) => {
                self.terms.courtesy.force
                    || calm.as_millis() >= u128::from(self.terms.courtesy.quiet_ms.unsigned_abs())
            }
            // An operator's force reaches past a draft only where the line is not touched.
            Human::Draft(_) => self.terms.courtesy.force && lane.is_native(),
        };
        (!is_skipped).then_some(HUMAN_INPUT_BUSY)
    }

    /// Looks again after the usual pause, but not beyond the longest deferral.
    pub(super) fn defer(&mut self, reason: &'static str, now_ms: i64) -> Step {
        let since_ms = *self.deferred_since_ms.get_or_insert(now_ms);
        let end_ms = since_ms.saturating_add(self.terms.courtesy.defer_ms_max);
        let until_ms = now_ms.saturating_add(self.terms.courtesy.recheck_ms.max(1));
        let until_ms = if end_ms > now_ms { until_ms.min(end_ms) } else { until_ms };
        Step::Defer { until_ms, reason }
    }

    /// Whether a human has kept this wake waiting for as long as one may.
    pub(super) fn is_deferral_over(&self, now_ms: i64) -> bool {
        self.deferred_since_ms
            .is_some_and(|since| now_ms.saturating_sub(since) >= self.terms.courtesy.defer_ms_max)
    }
}
