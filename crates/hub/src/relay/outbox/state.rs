//! What the outbox knows while the hub runs: limits, silent places, and what it counts.

use std::time::Duration;

use protocol::Timestamp;

use super::breaker::Breakers;
use super::pace::Paces;
use crate::metrics::Metrics;

/// What the outbox knows while the hub runs.
#[derive(Default)]
pub(crate) struct Outbox {
    pub(super) paces: Paces,
    pub(super) breakers: Breakers,
}

impl Outbox {
    /// How many places are left alone because they do not answer.
    pub(crate) fn silent_places(&self, now: Timestamp) -> usize {
        self.breakers.open(now)
    }
}

/// A request to a service ended, and took so long.
pub(super) fn count_send(metrics: &Metrics, channel: &str, outcome: &str, took: Duration) {
    metrics.time(
        "waystation_outbox_send_seconds",
        "Requests to services by channel and outcome, and the time they took.",
        &[("channel", channel), ("direction", "out"), ("outcome", outcome)],
        took,
    );
}

/// A part of an action is sent again.
pub(super) fn count_retry(metrics: &Metrics, channel: &str) {
    metrics.count(
        "waystation_outbox_retries_total",
        "Parts of actions that were sent again.",
        &[("channel", channel)],
        1,
    );
}

/// An action was given up.
pub(super) fn count_dead(metrics: &Metrics, channel: &str) {
    metrics.count(
        "waystation_outbox_dead_total",
        "Actions that were given up.",
        &[("channel", channel)],
        1,
    );
}
