//! How deliveries are shown to callers.

use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, ThreadId, Timestamp, WorkId};
use schemars::JsonSchema;
use serde::Serialize;
use store::{DeliveryRow, LinkRow, Tx};

use super::take::Received;
use crate::error::{Error, Result};

/// Something a service said.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeliveryView {
    /// The delivery.
    delivery_id: DeliveryId,
    /// The service's name for what happened.
    event: String,
    /// What became of it.
    outcome: DeliveryOutcome,
    /// How often it came.
    copies: i64,
    /// When it came first.
    received_at: Timestamp,
    /// The thread it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<ThreadId>,
    /// Its number there.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<i64>,
    /// What the service calls the thing itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_id: Option<String>,
    /// Whether its bytes are still kept, so that it can be replayed.
    is_replayable: bool,
}

impl DeliveryView {
    pub(super) fn of(row: DeliveryRow) -> Self {
        Self {
            delivery_id: row.id,
            event: row.event,
            outcome: row.outcome,
            copies: row.copies,
            received_at: row.received,
            thread_id: row.place.map(|(thread, _, _)| thread),
            seq: row.place.map(|(_, _, seq)| seq),
            remote_id: row.remote_id,
            is_replayable: row.has_body,
        }
    }

    pub(super) fn brief(&self) -> String {
        let times =
            if self.copies > 1 { format!(" ({} times)", self.copies) } else { String::new() };
        let place = match (self.thread_id, self.seq) {
            (Some(thread), Some(seq)) => format!(" in {thread} #{seq}"),
            _ => String::new(),
        };
        let Self { delivery_id, event, outcome, received_at, .. } = self;
        format!("{delivery_id} {received_at} {event}: {outcome}{place}{times}")
    }
}

/// What became of something that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TakenView {
    /// The delivery.
    delivery_id: DeliveryId,
    /// The service's name for what happened.
    event: String,
    /// What became of it.
    outcome: DeliveryOutcome,
    /// How often it has come by now.
    copies: i64,
    /// The thread it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<ThreadId>,
    /// Its number there.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<i64>,
    /// The work it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    work_id: Option<WorkId>,
    /// The queue of that work.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
}

impl TakenView {
    pub(super) fn of(received: Received) -> Self {
        Self {
            delivery_id: received.delivery_id,
            event: received.event,
            outcome: received.outcome,
            copies: received.copies,
            thread_id: received.thread_id,
            seq: received.seq,
            work_id: received.work_id,
            queue: received.queue,
        }
    }

    pub(super) fn brief(&self) -> String {
        let Self { delivery_id, event, outcome, .. } = self;
        let known = match self.copies {
            1 => String::new(),
            copies => format!("; it was known, and came {copies} times by now"),
        };
        let place = match (self.thread_id, self.seq) {
            (Some(thread), Some(seq)) => format!(" in {thread} #{seq}"),
            _ => String::new(),
        };
        let work = match (self.work_id, &self.queue) {
            (Some(work), Some(queue)) => format!(", {work} in the queue {queue}"),
            _ => String::new(),
        };
        format!("{delivery_id} {event}: {outcome}{place}{work}{known}")
    }
}

/// The caller's link of a name.
pub(super) fn link(tx: &mut Tx<'_>, workspace: &str, name: &str) -> Result<LinkRow> {
    tx.link(workspace, name)?.ok_or(Error::NotFound { what: "link" })
}
