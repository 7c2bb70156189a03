//! Whoever waits for a copy or a check: they are told how far it is, and may call it off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use crate::error::{Result, StoreError};

/// Steps of SQLite's machine between two looks at whether it was called off.
const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupStep {
    /// The file is copied.
    Copying,
    /// What the tables hold is read.
    Reading,
    /// The structure of the file is checked; nobody can say how far that is.
    Checking,
}

/// Whoever waits.
pub struct Watch<'a> {
    /// Set to call it off.
    pub stop: Arc<AtomicBool>,
    /// Told what is being done, how much of it is done, and how much there is; 0 when that is not known.
    pub tell: &'a dyn Fn(BackupStep, u64, u64),
}

impl Watch<'_> {
    /// Nobody: it is not called off, and what is said is not heard.
    pub fn nobody() -> Self {
        Self { stop: Arc::default(), tell: &|_, _, _| {} }
    }

    /// Says how far it is; fails when it was called off.
    pub(super) fn at(&self, step: BackupStep, done: u64, total: u64) -> Result<()> {
        (self.tell)(step, done, total);
        if self.is_off() { Err(StoreError::CalledOff) } else { Ok(()) }
    }

    /// Lets a long statement on this connection be called off too.
    pub(super) fn attach(&self, connection: &mut Connection) -> Result<()> {
        let stop = Arc::clone(&self.stop);
        let is_off = move || stop.load(Ordering::Relaxed);
        Ok(connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_off))?)
    }

    /// What an error means: whatever was called off fails one way or another.
    pub(super) fn meant(&self, error: StoreError) -> StoreError {
        if self.is_off() { StoreError::CalledOff } else { error }
    }

    fn is_off(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
