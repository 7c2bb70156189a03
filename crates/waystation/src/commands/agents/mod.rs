//! `waystation agents`: who is there, how each was last woken, and what wakes them.
mod list;
mod policy;
mod rows;
mod run;
mod watch;

pub(crate) use rows::{latency_ms, took, wakes_table};
pub(crate) use run::run;
