//! A human decides: what an agent wants to do outside waits as a proposal until somebody says yes to
//! exactly that.
//!
//! [`submit`] is the one way in which an action leaves for the outbox without a human, if a rule allows
//! it, or becomes a proposal; [`decide`] the one way in which a proposal moves on. People are asked where
//! they are: at a service with buttons ([`interaction`]), in their terminal behind a passphrase
//! ([`terminal`]), or over MCP with a token that may decide.
mod ask;
mod button;
mod decide;
mod decide_proposal;
mod draft;
mod get_proposal;
mod interaction;
mod key;
pub mod life;
mod list_proposals;
mod look_after;
pub mod policy;
mod propose_action;
mod revise_proposal;
mod seam;
mod sight;
mod state;
mod submit;
mod target;
pub mod terminal;
mod view;
mod withdraw_proposal;

pub(crate) use ask::left_of;
pub use decide_proposal::DecideProposal;
pub use draft::ActionDraft;
pub use get_proposal::GetProposal;
pub(crate) use interaction::interaction;
pub use key::{Means, means};
pub use list_proposals::ListProposals;
pub(crate) use look_after::look_after;
pub use propose_action::ProposeAction;
pub use revise_proposal::ReviseProposal;
pub use state::Approvals;
pub(crate) use submit::{Leave, check_why, settle};
pub use submit::{Submitted, SubmittedAction, submit};
pub use withdraw_proposal::WithdrawProposal;
