//! How actions on their way are shown.

use connector_api::Receipt;
use protocol::relay::{Action, OutboxState};
use protocol::{OutboxId, TaskId, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{OutboxRow, Tx};

use crate::error::Result;

/// What the service called a part that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredReceipt {
    /// What the service calls it.
    pub remote_id: String,
    /// Where a person finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it stands, in the connector's own words.
    #[serde(default)]
    pub address: Map<String, Value>,
}

impl StoredReceipt {
    pub(super) fn of(receipt: &Receipt) -> Self {
        let Receipt { remote_id, url, address, .. } = receipt.clone();
        Self { remote_id, url, address }
    }
}

/// What the service called the parts that have arrived, in their order.
pub fn receipts(row: &OutboxRow) -> Vec<StoredReceipt> {
    row.receipts.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// An action on its way to a service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutboxView {
    /// The action.
    pub outbox_id: OutboxId,
    /// How far it has come.
    pub state: OutboxState,
    /// What is done there.
    pub action: Action,
    /// The digest of the action, which a decision binds.
    pub action_hash: String,
    /// Who wanted it.
    pub agent_id: String,
    /// The thread it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The task it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Whether a human approved exactly this.
    pub approved: bool,
    /// Whether it comes first at its destination; the others wait for it.
    pub first: bool,
    /// Parts that have arrived.
    pub parts_done: i64,
    /// What the service called them.
    pub receipts: Vec<StoredReceipt>,
    /// How often the part that is next was tried.
    pub attempts: i64,
    /// Whether a request may have gone out whose answer was lost; the service is asked first.
    pub unknown: bool,
    /// When it is tried next, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Why it waits or was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the service said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl OutboxView {
    pub(super) fn of(tx: &mut Tx<'_>, row: &OutboxRow) -> Result<Self> {
        let thread =
            row.thread_row.map(|thread| tx.thread_by_row(thread, "")).transpose()?.flatten();
        Ok(Self {
            outbox_id: row.id,
            state: row.state,
            action: serde_json::from_str(&row.action).unwrap_or_default(),
            action_hash: row.action_hash.to_hex(),
            agent_id: row.agent.clone(),
            thread_id: thread.map(|access| access.thread.id),
            task_id: row.task,
            approved: row.proposal.is_some(),
            first: row.is_head,
            parts_done: row.parts_done,
            receipts: receipts(row),
            attempts: row.attempts,
            unknown: row.sending,
            due_at: (row.state == OutboxState::Waiting).then_some(row.due),
            reason: row.reason.clone(),
            answer: row.answer.clone(),
            created_at: row.created,
            ended_at: row.ended,
        })
    }
}
