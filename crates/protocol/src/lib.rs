//! Nouns, ids, error codes, limits and wire shapes of Waystation.
//!
//! This crate is pure: it does no I/O, never asks for the time and knows nothing of tokio.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod agent;
pub mod audit;
pub mod caller;
pub mod chat;
pub mod cursor;
mod digest;
pub mod error_code;
pub mod fold;
pub mod id;
pub mod limits;
pub mod message;
pub mod metadata;
pub mod object;
pub mod redact;
pub mod relay;
pub mod secret;
pub mod thread;
pub mod time;
pub mod toolsets;
pub mod unique_json;
pub mod validate;
pub mod wake;

pub use agent::{AgentSession, HumanInput, ManagementMode, SessionStatus};
pub use caller::{Caller, Role, Scope, Scopes};
pub use cursor::ParticipantCursor;
pub use error_code::{ErrorBody, ErrorCode, ErrorEnvelope};
pub use fold::fold;
pub use id::{
    DeliveryId, MemoryId, MessageId, OutboxId, PieceId, ProposalId, TaskId, ThreadId, ToolCallId,
    WakeId, WorkId,
};
pub use message::{Message, MessageKind, Trust};
pub use metadata::Metadata;
pub use secret::Secret;
pub use thread::{Thread, ThreadStatus, ThreadType};
pub use time::Timestamp;
pub use toolsets::{Toolset, Toolsets};
pub use wake::{WakeLane, WakePolicy, WakeState};
