//! `waystation approvals`: what waits for a human, and what the human at this terminal decides.
mod decide;
mod edit;
mod list;
mod passphrase;
mod run;
mod show;
mod unlock;

pub(crate) use run::run;
pub(crate) use unlock::{is_asked_for, unlock};
