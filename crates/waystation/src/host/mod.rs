//! The host: what reaches the agents of this machine when they are to be woken.
//!
//! It is a client of the hub like any other: it claims wakes over the private socket, lets the ladder
//! decide and the lanes act, and reports each step before and after it is taken. The hub may die at
//! any moment, and so may the host: a lane is touched only after the hub has written down that it is
//! about to be, and whoever takes the wake up again asks the agent's own records first.

mod children;
mod claims;
mod door;
mod hand;
mod identity;
mod job;
mod lanes;
mod leftovers;
mod limits;
mod reports;
mod run;
mod start_kept;

pub(crate) use claims::{Host, has_keepers};
pub(crate) use door::Door;
pub(crate) use identity::write_whole;
pub(crate) use lanes::{Installed, codex_home};
pub(crate) use leftovers::sweep;
