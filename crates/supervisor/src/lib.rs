//! Terminals, child processes and the ways in which each agent CLI can be woken.
//!
//! This crate knows nothing of the hub: it is told about sessions and notices, and says what it saw.

mod clock;
pub mod human;
pub mod keeper;
pub mod keys;
pub mod ladder;
pub mod lanes;
pub mod limits;
pub mod modes;
pub mod process;
pub mod pty;
pub mod screen;
pub mod session;

pub use ladder::{Candidate, Courtesy, Ladder, Outcome, Step, Terms};
pub use process::{ancestor_named, life};
pub use session::{
    Activity, AgentCli, Handed, Human, Lane, LaneError, Life, Notice, Process, Program, Runtime,
    Seen, Session,
};
