//! Links: accounts at services that somebody connected, and how each of them is doing.
//!
//! A link runs in a task of its own: it follows what happens, reads what was said before, and what
//! was said while nobody listened. What it learns is committed with the place where it goes on.
mod add_link;
mod attempt;
mod before;
mod check_link;
mod connect;
mod hook;
mod intake;
mod lease;
mod list_links;
mod mark;
mod past;
mod patience;
mod purge;
mod reconcile;
mod registry;
mod relaying;
mod remove_link;
mod replay;
mod run;
mod sink;
mod state;
mod vault;

pub use add_link::AddLink;
pub use check_link::CheckLink;
pub use connector_api::{HookAnswer, HookRequest};
pub use list_links::ListLinks;
pub use registry::{LinkParts, Links};
pub use remove_link::RemoveLink;
pub use state::{LinkState, LinkStatus};
pub use vault::{LinkVault, VaultError};

pub(crate) use intake::Intake;
pub(crate) use run::run;
