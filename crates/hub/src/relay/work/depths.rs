//! How much stands in queues and in the outbox, for the metrics. It is counted now and then, not when
//! somebody asks.

use std::sync::Arc;

use protocol::Timestamp;
use protocol::relay::WorkState;
use store::QueueDepth;

use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::metrics::{Gauge, Metrics};

/// Counts everything.
pub(crate) async fn count_depths(hub: &Arc<Hub>) -> Result<()> {
    let (queues, outbox) =
        hub.store.read(|tx| Ok::<_, Error>((tx.work_depths()?, tx.outbox_depths()?))).await?;
    let now = hub.now();
    hub.metrics.set(
        "waystation_work_items",
        "Work in each queue by state; what is done is left out.",
        queues.iter().map(|one| gauge(one, Some(one.state), one.count)).collect(),
    );
    hub.metrics.set(
        "waystation_work_oldest_seconds",
        "The age of the oldest work in each queue that nobody has taken.",
        queues
            .iter()
            .filter(|one| one.state == WorkState::Ready)
            .map(|one| gauge(one, None, age_seconds(one.oldest, now)))
            .collect(),
    );
    hub.metrics.set(
        "waystation_outbox_items",
        "Actions on their way to services by state; what was sent is left out.",
        outbox
            .iter()
            .map(|(state, count, _)| Gauge::new(&[("state", state.name())], *count))
            .collect(),
    );
    hub.metrics.set(
        "waystation_outbox_oldest_seconds",
        "The age of the oldest action in each of these states.",
        outbox
            .iter()
            .map(|(state, _, oldest)| {
                Gauge::new(&[("state", state.name())], age_seconds(*oldest, now))
            })
            .collect(),
    );
    Ok(())
}

fn gauge(depth: &QueueDepth, state: Option<WorkState>, number: i64) -> Gauge {
    let mut labels = vec![("workspace", depth.workspace.as_str()), ("queue", depth.queue.as_str())];
    labels.extend(state.map(|state| ("state", state.name())));
    Gauge::new(&labels, number)
}

fn age_seconds(since: Timestamp, now: Timestamp) -> i64 {
    (now.ms_since(since) / 1_000).max(0)
}

/// Work was given up in these queues.
pub(crate) fn count_dead(metrics: &Metrics, queues: &[String]) {
    for queue in queues {
        metrics.count(
            "waystation_work_dead_total",
            "Work that was given out too often and given up.",
            &[("queue", queue)],
            1,
        );
    }
}
