//! How far a long command is: a bar on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use connector_api::ImportProgress;
use tokio::time::Instant;

use crate::cli::Global;
use crate::paint::Paint;

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
const BAR_CHARS: u64 = 24;

/// What is counted, by whoever counts it.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes_done: AtomicU64,
    bytes_total: AtomicU64,
    messages_read: AtomicU64,
    messages_sent: AtomicU64,
}

impl Meter {
    /// So many messages more were read.
    pub(crate) fn read(&self, messages: usize) {
        let messages = u64::try_from(messages).unwrap_or(u64::MAX);
        self.messages_read.fetch_add(messages, Ordering::Relaxed);
    }

    /// So many messages more were handed on.
    pub(crate) fn sent(&self, messages: u64) {
        self.messages_sent.fetch_add(messages, Ordering::Relaxed);
    }

    /// The reading is so far.
    pub(crate) fn progress(&self, progress: ImportProgress) {
        self.bytes_done.store(progress.bytes_done, Ordering::Relaxed);
        self.bytes_total.store(progress.bytes_total, Ordering::Relaxed);
    }
}

/// A bar on a terminal, lines elsewhere; both on stderr, beside the output.
pub(crate) struct Bar {
    meter: Arc<Meter>,
    is_terminal: bool,
    began: Instant,
    told_at: Instant,
    is_drawn: bool,
}

impl Bar {
    /// Begins to measure.
    pub(crate) fn new(meter: Arc<Meter>) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let now = Instant::now();
        Self { meter, is_terminal, began: now, told_at: now, is_drawn: false }
    }

    /// Shows how far it is.
    pub(crate) fn draw(&mut self) {
        let seconds = self.began.elapsed().as_secs_f64();
        if self.is_terminal {
            self.is_drawn = true;
            write_stderr(&format!("\r\x1b[2K{}", bar(&self.meter, seconds)));
        } else if self.told_at.elapsed() >= LINE_EVERY {
            self.told_at = Instant::now();
            write_stderr(&format!("{}\n", words(&self.meter, seconds)));
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&mut self) {
        if self.is_drawn {
            write_stderr("\r\x1b[2K");
        }
    }
}

/// How far something is, in percent, on a terminal; for scripts and pipes there is nothing to see.
#[derive(Clone, Copy)]
pub(crate) struct Percent {
    is_shown: bool,
}

impl Percent {
    /// For a command that was called so.
    pub(crate) fn new(global: &Global) -> Self {
        Self { is_shown: !global.json && std::io::stderr().is_terminal() }
    }

    /// Says what is being done and how far it is; 0 in all when that is not known.
    pub(crate) fn draw(self, what: &str, done: u64, total: u64) {
        if self.is_shown {
            let percent = done.saturating_mul(100).checked_div(total);
            let percent = percent.map(|percent| format!(" {:>3} %", percent.min(100)));
            write_stderr(&format!("\r\x1b[2K{what}{}", percent.unwrap_or_default()));
        }
    }

    /// Takes it away.
    pub(crate) fn clear(self) {
        if self.is_shown {
            write_stderr("\r\x1b[2K");
        }
    }
}

/// Whoever cannot see the progress does not need it.
fn write_stderr(text: &str) {
    let mut out = std::io::stderr().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
}

fn bar(meter: &Meter, seconds: f64) -> String {
    let (done, total) = bytes(meter);
    let filled = (done.saturating_mul(BAR_CHARS)).checked_div(total).unwrap_or(0).min(BAR_CHARS);
    let part = |sign: &str, count: u64| sign.repeat(usize::try_from(count).unwrap_or(0));
    // Without colours the two parts differ by what they are drawn with.
    let paint = Paint::of_stderr();
    format!(
        "{}{} {}",
        paint.good(&part("━", filled)),
        paint.quiet(&part("─", BAR_CHARS - filled)),
        words(meter, seconds)
    )
}

fn words(meter: &Meter, seconds: f64) -> String {
    let (done, total) = bytes(meter);
    let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0).min(100);
    let sent = meter.messages_sent.load(Ordering::Relaxed);
    format!(
        "{percent:>3} %  {} of {}  {} messages  {}/s",
        size(done),
        size(total),
        grouped(sent),
        grouped(rate(sent, seconds))
    )
}

fn bytes(meter: &Meter) -> (u64, u64) {
    (meter.bytes_done.load(Ordering::Relaxed), meter.bytes_total.load(Ordering::Relaxed))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate for people needs no last digit, and is never negative"
)]
fn rate(count: u64, seconds: f64) -> u64 {
    if seconds < 0.1 { 0 } else { (count as f64 / seconds) as u64 }
}

/// A size as people write it.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    for (unit, name) in units {
        if bytes >= unit {
            let tenths = bytes.saturating_mul(10) / unit;
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

/// A number with a comma between each three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        for (bytes, text) in
            [(0, "0 B"), (1_536, "1.5 KB"), (2 << 30, "2.0 GB"), (u64::MAX, "1717986918.3 GB")]
        {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn a_bar_never_overflows() {
        let meter = Meter::default();
        assert!(words(&meter, 0.0).contains("0 %"));
        meter.progress(ImportProgress { bytes_done: 20, bytes_total: 10 });
        meter.sent(5_000);
        let shown = bar(&meter, 2.0);
        assert!(shown.contains("100 %") && shown.contains("2,500/s"), "{shown}");
        meter.progress(ImportProgress { bytes_done: u64::MAX, bytes_total: u64::MAX });
        assert_eq!(bar(&meter, 2.0).matches(['━', '─']).count(), 24);
    }
}
