//! Wakes: who is woken when, what a notice says, and how an attempt to reach an agent goes on.
mod bells;
pub(crate) mod life;
pub(crate) mod notice;
pub(crate) mod policy;
pub(crate) mod request;
mod settings;

pub(crate) use bells::{Bell, Wakes};
pub use settings::WakeSettings;
