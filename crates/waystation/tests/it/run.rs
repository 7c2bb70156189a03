//! Agents in terminals: the real program around a scripted one, on terminals of the test's own.

mod hub;
pub(crate) mod keeper;
mod life;
mod notices;
mod screen;
mod terminal;
mod thousand;
