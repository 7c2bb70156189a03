//! The ways into each agent CLI: one folder per program.

pub mod claude;
