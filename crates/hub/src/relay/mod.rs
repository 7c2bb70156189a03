//! The relay: what services say becomes envelopes and work; what agents answer leaves through an outbox.
//!
//! An envelope is a message of a thread in the relay's dialect: [`envelope`] translates between the two,
//! [`append`] is the one way in which any part adds one to a thread.
pub mod append;
pub mod approvals;
pub(crate) mod check;
pub(crate) mod cite;
pub mod context;
pub mod envelope;
pub(crate) mod hooks;
pub mod intake;
pub mod outbox;
mod prose;
pub mod settings;
pub mod tools;
pub mod work;

pub use settings::RelaySettings;

/// The set of tools that these operations belong to.
pub const TOOLSET: &str = "relay";
