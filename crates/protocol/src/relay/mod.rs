//! The relay: envelopes between services, agents and people, and what becomes of them.

mod action;
pub mod cite;
mod envelope;
pub mod schema;
mod state;
mod visible;

pub use action::{Action, ActionHash, Citation};
pub use envelope::{Context, Envelope, MemoryKind, MemoryUpdate, ToolCall, channel, envelope_role};
pub use state::{
    DeliveryOutcome, OutboxState, ProposalState, ProposalStep, ToolCallState, WorkState,
};
pub use visible::{visible, visible_object};
