//! What an operator chooses about the relay; each part has its own.
mod approvals;
mod context;
mod intake;
mod memory;
mod outbox;
mod retention;
mod tools;

pub use approvals::{ApprovalRule, ApprovalSettings, AskPlace, Asking, Verdict};
pub use context::ContextSettings;
pub use intake::{IntakeSettings, RelayRoute, RouteTarget};
pub use memory::MemorySettings;
pub use outbox::OutboxSettings;
pub use retention::RetentionSettings;
pub use tools::{ToolRule, ToolSettings, UnknownWay, Way};

/// What an operator chooses about the relay.
#[derive(Clone, Debug, Default)]
pub struct RelaySettings {
    /// What becomes of what services say.
    pub intake: IntakeSettings,
    /// Sending to services.
    pub outbox: OutboxSettings,
    /// What a human decides.
    pub approvals: ApprovalSettings,
    /// Tools that agents call.
    pub tools: ToolSettings,
    /// What is remembered.
    pub memory: MemorySettings,
    /// What an agent is given for a turn.
    pub context: ContextSettings,
    /// How long what is over is kept.
    pub retention: RetentionSettings,
}
