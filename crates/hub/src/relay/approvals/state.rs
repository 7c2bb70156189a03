//! What the hub keeps in mind about proposals: who must be told, how many wait, which terminals are
//! unlocked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::relay::ProposalState;
use ring::hmac;
use tokio::sync::{Notify, OnceCell};

use super::life::Via;
use super::terminal::Terminals;

/// What the hub keeps in mind about proposals.
#[derive(Default)]
pub struct Approvals {
    key: OnceCell<hmac::Key>,
    bell: Notify,
    decisions: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    refusals: Mutex<u64>,
    waiting: Mutex<(i64, Option<Timestamp>)>,
    pub(super) terminals: Terminals,
}

impl Approvals {
    pub(super) fn key(&self) -> &OnceCell<hmac::Key> {
        &self.key
    }

    /// Something happened to a proposal: people are asked, reminded or told at once.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until somebody rings.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Counts a decision.
    pub(super) fn count(&self, state: ProposalState, via: Via) {
        *self.decisions.lock().entry((state.name(), via.name())).or_default() += 1;
    }

    /// Counts a wish that was refused: a forged button, a stranger, an old draft.
    pub(super) fn count_refusal(&self) {
        *self.refusals.lock() += 1;
    }

    /// Remembers how many proposals wait, and since when the oldest does.
    pub(crate) fn set_waiting(&self, waiting: (i64, Option<Timestamp>)) {
        *self.waiting.lock() = waiting;
    }

    /// What the metrics say of proposals, in the Prometheus text format.
    pub(crate) fn metrics_text(&self, now: Timestamp) -> String {
        let (count, oldest) = *self.waiting.lock();
        let age_seconds = oldest.map_or(0, |oldest| now.ms_since(oldest).max(0) / 1_000);
        let mut text = format!(
            "# HELP waystation_approvals_waiting Proposals that wait for a human.\n\
             # TYPE waystation_approvals_waiting gauge\n\
             waystation_approvals_waiting {count}\n\
             # HELP waystation_approvals_oldest_seconds Age of the oldest of them.\n\
             # TYPE waystation_approvals_oldest_seconds gauge\n\
             waystation_approvals_oldest_seconds {age_seconds}\n\
             # HELP waystation_approvals_refused_total Wishes of people that were refused.\n\
             # TYPE waystation_approvals_refused_total counter\n\
             waystation_approvals_refused_total {}\n\
             # HELP waystation_decisions_total Decisions of humans by kind and way.\n\
             # TYPE waystation_decisions_total counter\n",
            self.refusals.lock()
        );
        for ((decision, via), count) in self.decisions.lock().iter() {
            writeln!(
                text,
                "waystation_decisions_total{{decision=\"{decision}\",via=\"{via}\"}} {count}"
            )
            .expect("writing to a String cannot fail");
        }
        text
    }
}
