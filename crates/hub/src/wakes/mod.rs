//! Wakes: who is woken when, what a notice says, and how an attempt to reach an agent goes on.
mod bells;
mod cancel_wake;
mod claim_wakes;
mod job;
pub(crate) mod life;
mod list_wakes;
pub(crate) mod notice;
mod pause;
pub(crate) mod policy;
pub(crate) mod reach;
mod report_wake;
pub(crate) mod request;
mod settings;
mod trigger_participant;
mod view;
mod wait_for_wake;

pub(crate) use bells::Wakes;
pub use cancel_wake::CancelWake;
pub use claim_wakes::ClaimWakes;
pub use list_wakes::ListWakes;
pub use report_wake::ReportWake;
pub use settings::WakeSettings;
pub use trigger_participant::TriggerParticipant;
pub use wait_for_wake::WaitForWake;
