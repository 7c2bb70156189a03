//! Live readers: who waits for which thread, and telling them that something was committed.
mod watch;

pub use watch::{Live, Watch};
