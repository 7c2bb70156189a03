//! Wakes: who is woken when, what a notice says, and how an attempt to reach an agent goes on.
pub(crate) mod notice;
pub(crate) mod policy;
mod settings;

pub use settings::WakeSettings;
