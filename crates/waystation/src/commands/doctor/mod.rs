//! `waystation doctor`: what is installed, what is connected, and which lane really wakes a session.
mod facts;
mod lanes;
mod report;
mod run;

pub(crate) use run::run;
