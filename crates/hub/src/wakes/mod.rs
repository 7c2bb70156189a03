//! Wakes: who is woken when, what a notice says, and how an attempt to reach an agent goes on.
mod bells;
mod get_wake_policy;
pub(crate) mod life;
pub(crate) mod look;
pub(crate) mod notice;
pub(crate) mod policy;
pub(crate) mod request;
mod set_wake_policy;
mod settings;
pub(crate) mod standing;

pub(crate) use bells::{Bell, Wakes};
pub use get_wake_policy::{GetWakePolicy, WakePolicyOutput};
pub use set_wake_policy::SetWakePolicy;
pub use settings::WakeSettings;
pub use standing::PolicyOrigin;
