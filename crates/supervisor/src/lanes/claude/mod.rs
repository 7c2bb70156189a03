//! Claude Code: what its own records say of a session, and the ways into it.
//!
//! A live session is woken by the hub through a parked `waystation wait`, which is no lane of a host.
//! A host has the standard input of a child that a keeper owns, the keyboard behind that, and
//! `claude -p` for sessions that are proven to have ended. `claude -p --resume` on a live session
//! silently splits it in two, so every sign of life forbids it.

mod arrive;
mod cli;
pub mod folder;
mod identity;
mod look;
pub mod records;
mod start;
pub mod transcript;
mod turn;

#[cfg(test)]
mod tests;

pub use cli::Claude;
