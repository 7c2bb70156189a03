//! How far a participant has read.

use schemars::JsonSchema;
use serde::Serialize;

use crate::id::{MessageId, ThreadId};
use crate::time::Timestamp;

/// A participant's read checkpoint in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ParticipantCursor {
    /// The thread.
    pub thread_id: ThreadId,
    /// The participant.
    pub agent_id: String,
    /// Everything up to this number has been read.
    pub last_read_seq: i64,
    /// The message with that number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_acked_message_id: Option<MessageId>,
    /// When it was acknowledged.
    pub updated_at: Timestamp,
}
