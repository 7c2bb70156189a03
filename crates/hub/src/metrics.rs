//! Counters and timings of every operation, printed in the Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];

/// What the hub counts.
#[derive(Default)]
pub struct Metrics {
    operations: RwLock<BTreeMap<&'static str, Box<Series>>>,
    outcomes: RwLock<BTreeMap<(&'static str, &'static str), Box<AtomicU64>>>,
}

#[derive(Default)]
struct Series {
    buckets: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    sum_us: AtomicU64,
}

impl Metrics {
    /// Counts one call of an operation.
    pub fn observe(&self, operation: &'static str, outcome: &'static str, took: Duration) {
        with(&self.operations, operation, |series| {
            let seconds = took.as_secs_f64();
            for (bucket, _) in series.buckets.iter().zip(BUCKETS).filter(|(_, le)| seconds <= *le) {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
            series.count.fetch_add(1, Ordering::Relaxed);
            let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            series.sum_us.fetch_add(us, Ordering::Relaxed);
        });
        with(&self.outcomes, (operation, outcome), |count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Everything, in the Prometheus text format; `gauges` are added at the end.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of microseconds is shown, not reckoned with"
    )]
    pub fn render(&self, gauges: &[(&str, &str, f64)]) -> String {
        let mut text = String::from(
            "# HELP waystation_calls_total Calls of operations by outcome.\n\
             # TYPE waystation_calls_total counter\n",
        );
        let mut line = |args: std::fmt::Arguments<'_>| {
            text.write_fmt(args).expect("writing to a String cannot fail");
        };
        for ((operation, outcome), count) in self.outcomes.read().iter() {
            let count = count.load(Ordering::Relaxed);
            line(format_args!(
                "waystation_calls_total{{operation=\"{operation}\",outcome=\"{outcome}\"}} {count}\n"
            ));
        }
        line(format_args!(
            "# HELP waystation_call_seconds Time from the door to the answer.\n\
             # TYPE waystation_call_seconds histogram\n"
        ));
        for (operation, series) in self.operations.read().iter() {
            let name = format!("waystation_call_seconds_bucket{{operation=\"{operation}\",le=");
            for (bucket, le) in series.buckets.iter().zip(BUCKETS) {
                line(format_args!("{name}\"{le}\"}} {}\n", bucket.load(Ordering::Relaxed)));
            }
            let count = series.count.load(Ordering::Relaxed);
            let sum = series.sum_us.load(Ordering::Relaxed) as f64 / 1e6;
            line(format_args!("{name}\"+Inf\"}} {count}\n"));
            line(format_args!("waystation_call_seconds_sum{{operation=\"{operation}\"}} {sum}\n"));
            line(format_args!(
                "waystation_call_seconds_count{{operation=\"{operation}\"}} {count}\n"
            ));
        }
        for (name, help, value) in gauges {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"));
        }
        text
    }
}

fn with<K: Ord + Copy, V: Default>(map: &RwLock<BTreeMap<K, Box<V>>>, key: K, f: impl Fn(&V)) {
    if let Some(value) = map.read().get(&key) {
        return f(value);
    }
    f(map.write().entry(key).or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_counted_in_its_buckets() {
        let metrics = Metrics::default();
        metrics.observe("post_message", "ok", Duration::from_millis(3));
        let text = metrics.render(&[("waystation_up", "Whether it runs.", 1.0)]);
        assert!(
            text.contains("waystation_calls_total{operation=\"post_message\",outcome=\"ok\"} 1\n")
        );
        assert!(text.contains("le=\"0.0025\"} 0\n") && text.contains("le=\"0.005\"} 1\n"));
        assert!(text.ends_with("waystation_up 1\n"));
    }
}
