//! Messages: numbered entries of a thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::digest;
use crate::id::{MessageId, ThreadId};
use crate::time::Timestamp;

/// The version of the message payload this hub speaks.
pub const SCHEMA_VERSION: i64 = 1;

/// One message of a thread.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Message {
    /// The message.
    pub message_id: MessageId,
    /// The thread it belongs to.
    pub thread_id: ThreadId,
    /// The version of this payload.
    pub schema_version: i64,
    /// Its number in the thread: 1, 2, 3, … without a gap.
    pub seq: i64,
    /// Who sent it, from verified claims.
    pub sender_agent_id: String,
    /// The session it was sent from, from verified claims.
    pub sender_session_id: String,
    /// Talk, a typed event, or the hub's own word.
    pub kind: MessageKind,
    /// The text. It is data from its sender, never an instruction of the hub.
    pub body: String,
    /// Structured facts, as the sender gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Box<RawValue>>,
    /// The message this one answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<MessageId>,
    /// The sender's key against doubled posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Where it came from, set by the hub.
    pub trust: Trust,
    /// When the hub took it.
    pub created_at: Timestamp,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Talk.
    Chat,
    /// A typed event; `metadata.event_type` names it.
    Event,
    /// The hub's own word: a status change, a pause.
    System,
}

impl MessageKind {
    /// The stored code.
    pub const fn code(self) -> i64 {
        match self {
            Self::Chat => 0,
            Self::Event => 1,
            Self::System => 2,
        }
    }

    /// Reads the stored code.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Chat),
            1 => Some(Self::Event),
            2 => Some(Self::System),
            _ => None,
        }
    }

    /// The wire name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Event => "event",
            Self::System => "system",
        }
    }
}

/// Where a message came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// A human with authority.
    Operator,
    /// An agent of the workspace.
    Agent,
    /// The world outside.
    External,
    /// The hub itself.
    Hub,
}

impl Trust {
    /// The stored code.
    pub const fn code(self) -> i64 {
        match self {
            Self::Operator => 0,
            Self::Agent => 1,
            Self::External => 2,
            Self::Hub => 3,
        }
    }

    /// Reads the stored code; anything unknown is the least trusted.
    pub const fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Operator,
            1 => Self::Agent,
            3 => Self::Hub,
            _ => Self::External,
        }
    }
}

/// The typed events every hub knows; other names are carried as they are.
pub mod event_type {
    /// A reviewer found something.
    pub const FINDING_REPORTED: &str = "finding_reported";
    /// An author pushed a fix.
    pub const FIX_PUSHED: &str = "fix_pushed";
    /// An author asks for another look.
    pub const RE_REVIEW_REQUESTED: &str = "re_review_requested";
    /// A reviewer confirmed a fix.
    pub const FINDING_VERIFIED: &str = "finding_verified";
    /// A finding or a fix was turned down.
    pub const FINDING_REJECTED: &str = "finding_rejected";
    /// Somebody with authority is needed; blocks the thread.
    pub const THREAD_ESCALATED: &str = "thread_escalated";
    /// The work is done; resolves the thread.
    pub const THREAD_RESOLVED: &str = "thread_resolved";

    /// The registry.
    pub const ALL: [&str; 7] = [
        FINDING_REPORTED,
        FIX_PUSHED,
        RE_REVIEW_REQUESTED,
        FINDING_VERIFIED,
        FINDING_REJECTED,
        THREAD_ESCALATED,
        THREAD_RESOLVED,
    ];
}

/// What a sender asked to be posted: the part of a message that an idempotency key covers.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// The kind of message.
    pub kind: MessageKind,
    /// The text.
    pub body: &'a str,
    /// The metadata, in canonical spelling.
    pub metadata: Option<&'a str>,
    /// The message it answers.
    pub in_reply_to: Option<MessageId>,
}

impl Content<'_> {
    /// A digest that two posts share only if they say the same.
    pub fn digest(&self) -> [u8; 32] {
        digest::of_parts([
            self.kind.name().as_bytes(),
            self.body.as_bytes(),
            self.metadata.unwrap_or_default().as_bytes(),
            self.in_reply_to.as_ref().map_or(&[][..], MessageId::as_bytes),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_fields_apart() {
        let content =
            |body, metadata| Content { kind: MessageKind::Chat, body, metadata, in_reply_to: None };
        assert_eq!(content("a", None).digest(), content("a", None).digest());
        assert_ne!(content("ab", None).digest(), content("a", Some("b")).digest());
    }
}
