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
    counters: Families<AtomicU64>,
    timings: Families<Series>,
    gauges: RwLock<BTreeMap<(&'static str, &'static str), Vec<Gauge>>>,
}

/// A number that goes up and down, and what it is told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    labels: String,
    number: i64,
}

impl Gauge {
    /// A number with its labels.
    pub fn new(labels: &[(&str, &str)], number: i64) -> Self {
        Self { labels: spell(labels), number }
    }
}

/// Families of measurements: the name, its help, and the labels that tell its members apart.
type Families<V> = RwLock<BTreeMap<(&'static str, &'static str), BTreeMap<String, Box<V>>>>;

/// Members that one family may have; what would be one more is not counted.
const MEMBERS_MAX: usize = 1_000;

#[derive(Default)]
struct Series {
    buckets: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    sum_us: AtomicU64,
}

impl Series {
    fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        for (bucket, _) in self.buckets.iter().zip(BUCKETS).filter(|(_, le)| seconds <= *le) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Its lines, as a histogram.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of microseconds is shown, not reckoned with"
    )]
    fn render(&self, name: &str, labels: &str, line: &mut dyn FnMut(std::fmt::Arguments<'_>)) {
        for (bucket, le) in self.buckets.iter().zip(BUCKETS) {
            let count = bucket.load(Ordering::Relaxed);
            line(format_args!("{name}_bucket{{{labels},le=\"{le}\"}} {count}\n"));
        }
        let count = self.count.load(Ordering::Relaxed);
        let sum = self.sum_us.load(Ordering::Relaxed) as f64 / 1e6;
        line(format_args!("{name}_bucket{{{labels},le=\"+Inf\"}} {count}\n"));
        line(format_args!("{name}_sum{{{labels}}} {sum}\n"));
        line(format_args!("{name}_count{{{labels}}} {count}\n"));
    }
}

impl Metrics {
    /// Counts something by its labels: `count("waystation_x_total", "What it is.", &[("channel", "slack")], 1)`.
    pub fn count(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)], by: u64) {
        member(&self.counters, (name, help), labels, |count| {
            count.fetch_add(by, Ordering::Relaxed);
        });
    }

    /// Takes the time of something by its labels, into a histogram.
    pub fn time(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        took: Duration,
    ) {
        member(&self.timings, (name, help), labels, |series| series.observe(took));
    }

    /// Says how all numbers of a family stand now; what is not named is gone.
    pub fn set(&self, name: &'static str, help: &'static str, mut all: Vec<Gauge>) {
        all.truncate(MEMBERS_MAX);
        self.gauges.write().insert((name, help), all);
    }

    /// Counts one call of an operation.
    pub fn observe(&self, operation: &'static str, outcome: &'static str, took: Duration) {
        with(&self.operations, operation, |series| series.observe(took));
        with(&self.outcomes, (operation, outcome), |count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Everything, in the Prometheus text format; `gauges` are added at the end.
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
            let labels = format!("operation=\"{operation}\"");
            series.render("waystation_call_seconds", &labels, &mut line);
        }
        for ((name, help), members) in self.counters.read().iter() {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} counter\n"));
            for (labels, count) in members {
                let count = count.load(Ordering::Relaxed);
                line(format_args!("{name}{{{labels}}} {count}\n"));
            }
        }
        for ((name, help), members) in self.timings.read().iter() {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} histogram\n"));
            for (labels, series) in members {
                series.render(name, labels, &mut line);
            }
        }
        for ((name, help), members) in self.gauges.read().iter() {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
            for Gauge { labels, number } in members {
                line(format_args!("{name}{{{labels}}} {number}\n"));
            }
        }
        for (name, help, value) in gauges {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"));
        }
        text
    }
}

/// `channel="slack",outcome="sent"`.
fn spell(labels: &[(&str, &str)]) -> String {
    let length = labels.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut spelled = String::with_capacity(length);
    for (name, value) in labels {
        if !spelled.is_empty() {
            spelled.push(',');
        }
        spelled.push_str(name);
        spelled.push_str("=\"");
        for letter in value.chars() {
            match letter {
                '\\' => spelled.push_str("\\\\"),
                '"' => spelled.push_str("\\\""),
                '\n' => spelled.push(' '),
                plain => spelled.push(plain),
            }
        }
        spelled.push('"');
    }
    spelled
}

/// The member of a family with these labels; made where there is room for one more.
fn member<V: Default>(
    families: &Families<V>,
    family: (&'static str, &'static str),
    labels: &[(&str, &str)],
    f: impl Fn(&V),
) {
    let labels = spell(labels);
    if let Some(value) = families.read().get(&family).and_then(|members| members.get(&labels)) {
        return f(value);
    }
    let mut families = families.write();
    let members = families.entry(family).or_default();
    if members.len() < MEMBERS_MAX || members.contains_key(&labels) {
        f(members.entry(labels).or_default());
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

    #[test]
    fn what_is_counted_by_labels_stands_under_its_name() {
        let metrics = Metrics::default();
        for _ in 0..2 {
            metrics.count("w_total", "Things.", &[("channel", "a\"b"), ("outcome", "work")], 1);
        }
        metrics.time("w_seconds", "How long.", &[("channel", "x")], Duration::from_millis(3));
        let text = metrics.render(&[]);
        assert!(
            text.contains(
                "# TYPE w_total counter\nw_total{channel=\"a\\\"b\",outcome=\"work\"} 2\n"
            )
        );
        assert!(text.contains("w_seconds_bucket{channel=\"x\",le=\"0.005\"} 1\n"), "{text}");
        assert!(text.contains("w_seconds_count{channel=\"x\"} 1\n"));
        metrics.set("w_depth", "How deep.", vec![Gauge::new(&[("queue", "gone")], 9)]);
        metrics.set("w_depth", "How deep.", vec![Gauge::new(&[("queue", "q")], 2)]);
        let text = metrics.render(&[]);
        assert!(text.contains("# TYPE w_depth gauge\nw_depth{queue=\"q\"} 2\n"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }
}
