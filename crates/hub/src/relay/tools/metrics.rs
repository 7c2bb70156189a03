//! What is counted of tools: runs by tool and outcome, how long they took, and the ways after failures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use parking_lot::Mutex;

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 9] = [0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 600.0];

/// What is counted of tools. Only names of tools that exist become labels, so their number is bounded.
#[derive(Debug, Default)]
pub(crate) struct ToolMetrics {
    runs: Mutex<BTreeMap<(String, &'static str), u64>>,
    took: Mutex<BTreeMap<String, Series>>,
    ways: Mutex<BTreeMap<(String, &'static str), u64>>,
}

#[derive(Clone, Debug, Default)]
struct Series {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl ToolMetrics {
    /// A tool was run.
    pub(super) fn ran(&self, tool: &str, outcome: &'static str, took: Duration) {
        *self.runs.lock().entry((tool.to_owned(), outcome)).or_default() += 1;
        let mut all = self.took.lock();
        let series = all.entry(tool.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        for (bucket, _) in series.buckets.iter_mut().zip(BUCKETS).filter(|(_, le)| seconds <= *le) {
            *bucket += 1;
        }
        series.count += 1;
        series.sum += took;
    }

    /// A failed call took a way.
    pub(super) fn went(&self, tool: &str, way: &'static str) {
        *self.ways.lock().entry((tool.to_owned(), way)).or_default() += 1;
    }

    /// Everything, in the Prometheus text format.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        let mut line = |args: std::fmt::Arguments<'_>| {
            text.write_fmt(args).expect("writing to a String cannot fail");
        };
        line(format_args!(
            "# HELP waystation_tool_runs_total Runs of tools by outcome.\n\
             # TYPE waystation_tool_runs_total counter\n"
        ));
        for ((tool, outcome), count) in self.runs.lock().iter() {
            line(format_args!(
                "waystation_tool_runs_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}\n"
            ));
        }
        line(format_args!(
            "# HELP waystation_tool_seconds How long tools took.\n\
             # TYPE waystation_tool_seconds histogram\n"
        ));
        for (tool, series) in self.took.lock().iter() {
            for (bucket, le) in series.buckets.iter().zip(BUCKETS) {
                line(format_args!(
                    "waystation_tool_seconds_bucket{{tool=\"{tool}\",le=\"{le}\"}} {bucket}\n"
                ));
            }
            let (count, sum) = (series.count, series.sum.as_secs_f64());
            line(format_args!(
                "waystation_tool_seconds_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {count}\n\
                 waystation_tool_seconds_sum{{tool=\"{tool}\"}} {sum}\n\
                 waystation_tool_seconds_count{{tool=\"{tool}\"}} {count}\n"
            ));
        }
        line(format_args!(
            "# HELP waystation_tool_fallbacks_total Ways that failed calls took.\n\
             # TYPE waystation_tool_fallbacks_total counter\n"
        ));
        for ((tool, way), count) in self.ways.lock().iter() {
            line(format_args!(
                "waystation_tool_fallbacks_total{{tool=\"{tool}\",way=\"{way}\"}} {count}\n"
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_ways_are_counted_by_tool() {
        let metrics = ToolMetrics::default();
        metrics.ran("SummarizeIssue", "ok", Duration::from_millis(20));
        metrics.ran("SummarizeIssue", "TIMEOUT", Duration::from_secs(61));
        metrics.went("SummarizeIssue", "retry");
        let text = metrics.render();
        assert!(text.contains(
            "waystation_tool_runs_total{tool=\"SummarizeIssue\",outcome=\"TIMEOUT\"} 1\n"
        ));
        assert!(text.contains("tool=\"SummarizeIssue\",le=\"0.025\"} 1\n"));
        assert!(text.contains("tool=\"SummarizeIssue\",le=\"+Inf\"} 2\n"));
        assert!(text.contains(
            "waystation_tool_fallbacks_total{tool=\"SummarizeIssue\",way=\"retry\"} 1\n"
        ));
    }
}
