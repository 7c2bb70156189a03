//! The ways in which agents are reached, one file for each program.
mod pty;

pub use pty::PtyCli;
