//! How work is shown.

use protocol::relay::WorkState;
use protocol::{TaskId, ThreadId, Timestamp, WorkId};
use schemars::JsonSchema;
use serde::Serialize;
use store::WorkRow;

/// A piece of work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkView {
    /// The work.
    pub work_id: WorkId,
    /// The queue it stands in.
    pub queue: String,
    /// The thread it is about.
    pub thread_id: ThreadId,
    /// The number of the message it is about.
    pub seq: i64,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// How far it has come.
    pub state: WorkState,
    /// How often it was given out.
    pub attempts: i64,
    /// Who has it, or had it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Until when it is theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// It is not given out before then.
    pub visible_at: Timestamp,
    /// Why it was released, parked or given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl WorkView {
    pub(super) fn of(row: WorkRow) -> Self {
        Self {
            work_id: row.id,
            queue: row.queue,
            thread_id: row.thread_id,
            seq: row.seq,
            task_id: row.task,
            state: row.state,
            attempts: row.attempts,
            agent_id: row.holder,
            lease_until: row.lease,
            visible_at: row.visible,
            reason: row.reason,
            created_at: row.created,
            ended_at: row.ended,
        }
    }
}
