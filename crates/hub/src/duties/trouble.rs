//! A duty that fails says so once, and not again until it has worked in between.

use std::fmt::Display;

/// Whether a duty is in trouble.
#[derive(Debug, Default)]
pub struct Trouble {
    is_known: bool,
}

impl Trouble {
    /// It works.
    pub fn is_over(&mut self) {
        self.is_known = false;
    }

    /// It failed; the log hears of it the first time.
    pub fn say(&mut self, error: &dyn Display, what: &str) {
        if !std::mem::replace(&mut self.is_known, true) {
            tracing::warn!(%error, "{what}");
        }
    }
}
