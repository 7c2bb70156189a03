//! How much a thread has worked, for searches that must not work for ever.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long this thread has been running; a busy machine does not make it longer.
pub(crate) fn of_this_thread() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap_or(0))
}
