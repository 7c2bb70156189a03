//! What a keeper says of its session to whoever reports it.

use std::time::Instant;

use crate::session::{Activity, Process};

/// How a program stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not started.
    Waiting,
    /// It runs.
    Running,
    /// It is stopped.
    Stopped,
    /// It has ended with this code.
    Ended(i32),
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How the program stands.
    pub standing: Standing,
    /// Its process.
    pub process: Option<Process>,
    /// What it is doing.
    pub activity: Activity,
    /// Whether something is half typed.
    pub draft: bool,
    /// When a human typed last.
    pub last_key: Option<Instant>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            standing: Standing::Waiting,
            process: None,
            activity: Activity::Unknown,
            draft: false,
            last_key: None,
        }
    }
}
