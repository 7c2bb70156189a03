//! What is counted of tools: runs by tool and outcome, how long they took, and the ways after failures.

use std::time::Duration;

use crate::metrics::Metrics;

/// A tool was run. Only names of tools that exist may become labels, so that their number is bounded.
pub(super) fn ran(metrics: &Metrics, tool: &str, outcome: &str, took: Duration) {
    metrics.count(
        "waystation_tool_runs_total",
        "Runs of tools by outcome.",
        &[("tool", tool), ("outcome", outcome)],
        1,
    );
    metrics.time("waystation_tool_seconds", "How long tools took.", &[("tool", tool)], took);
}

/// A failed call took a way.
pub(super) fn went(metrics: &Metrics, tool: &str, way: &str) {
    metrics.count(
        "waystation_tool_fallbacks_total",
        "Ways that failed calls of tools took.",
        &[("tool", tool), ("way", way)],
        1,
    );
}
