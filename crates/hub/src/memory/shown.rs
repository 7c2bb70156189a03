//! A memory as callers see it.

use protocol::relay::MemoryKind;
use protocol::{MemoryId, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::MemoryRow;

/// A memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryView {
    /// Its id.
    pub memory_id: MemoryId,
    /// Where it is remembered.
    pub kind: MemoryKind,
    /// The thread of something episodic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Who remembered it.
    pub agent_id: String,
    /// What is remembered.
    pub data: Map<String, Value>,
    /// Whether it does not age.
    pub pinned: bool,
    /// When it was remembered.
    pub created_at: Timestamp,
    /// When it was last of use.
    pub used_at: Timestamp,
    /// When it is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How well it answers: relevance times recency.
    pub score: f64,
}

impl MemoryView {
    pub(super) fn of(memory: MemoryRow, thread_id: Option<ThreadId>, score: f64) -> Self {
        Self {
            memory_id: memory.id,
            kind: memory.kind,
            thread_id,
            agent_id: memory.agent,
            data: serde_json::from_str(&memory.data).unwrap_or_default(),
            pinned: memory.is_pinned,
            created_at: memory.created,
            used_at: memory.used,
            expires_at: memory.expires,
            score,
        }
    }
}
