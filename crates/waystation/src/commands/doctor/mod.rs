//! `waystation doctor`: what is installed, what is connected, and which lane really wakes a session.
mod facts;
mod lanes;
mod probe;
mod report;
mod run;
mod window;

pub(crate) use probe::PROBE_PREFIX;
pub(crate) use run::run;
