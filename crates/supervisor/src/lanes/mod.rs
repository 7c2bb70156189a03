//! How each agent CLI is reached: one folder per CLI.

pub mod claude;
pub mod codex;
pub mod pty;
