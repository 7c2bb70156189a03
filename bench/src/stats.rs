//! Clocks, percentiles, and what a process has used of the processor.

use std::time::{Duration, Instant};

/// The moment it is.
#[expect(clippy::disallowed_methods, reason = "this crate measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The middle one.
pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// The value that this share of all values does not exceed; 0 when there is none.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank between 0 and the number of values"
)]
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(rank).copied().unwrap_or(0.0)
}

/// A count as a number to divide with.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

/// Some load that was put on something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    /// How many were acknowledged.
    pub(crate) count: usize,
    /// In how many seconds.
    pub(crate) seconds: f64,
    /// How long each took, in milliseconds.
    pub(crate) millis: Vec<f64>,
    /// Processor time that went into it, in seconds.
    pub(crate) cpu: f64,
}

impl Load {
    /// How many a second.
    pub(crate) fn rate(&self) -> f64 {
        number(self.count) / self.seconds.max(1e-9)
    }

    /// Processor time of each, in microseconds.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu * 1e6 / number(self.count.max(1))
    }

    /// How long one takes in the middle, in milliseconds.
    pub(crate) fn p50(&self) -> f64 {
        median(&self.millis)
    }

    /// How long the slowest of a hundred takes, in milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        percentile(&self.millis, 0.99)
    }
}

/// Processor time that a process has used, in seconds; 0 when it is gone.
pub(crate) fn cpu_of(process: u32) -> f64 {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { return 0.0 };
    let nanos = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<f64>().ok()
    });
    nanos.sum::<f64>() / 1e9
}

/// Processor time that this process has used, with threads that have ended, in seconds.
pub(crate) fn cpu() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything, user and system time are the 12th and 13th word.
    let words = text.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    words.skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum::<f64>()
        / TICKS_PER_SECOND
}

/// What this process has read from the disk, in bytes.
pub(crate) fn read_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes:")).unwrap_or_default();
    line.trim().parse().unwrap_or(0.0)
}

/// Memory that a process holds, in megabytes.
pub(crate) fn memory_mb(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0);
    kilobytes / 1024.0
}

/// The most memory that a process has held, in megabytes; 0 when it is gone.
pub(crate) fn peak_memory_mb(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}

/// How busy the machine is.
pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or("?").to_owned()
}

/// Seconds of a duration.
pub(crate) fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64()
}

/// Seconds as a duration.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}
