//! What an issue could be filed under: what it has, its level, and what its words suggest.

use connector_api::Page;
use protocol::limits::tools as limits;

use super::extract;
use crate::relay::prose::{error_types, head};

/// A label, and the words that speak for it.
struct Label {
    name: &'static str,
    words: &'static [&'static str],
}

/// The labels that words suggest, the most urgent first.
const LABELS: &[Label] = &[
    Label {
        name: "critical",
        words: &[
            "critical",
            "outage",
            "fatal",
            "data loss",
            "production down",
            "urgent",
            "p0",
            "sev1",
        ],
    },
    Label {
        name: "security",
        words: &["security", "vulnerability", "cve", "xss", "injection", "exploit", "csrf"],
    },
    Label {
        name: "bug",
        words: &[
            "bug",
            "error",
            "crash",
            "crashes",
            "exception",
            "fails",
            "failed",
            "failure",
            "broken",
            "wrong",
            "traceback",
            "stack trace",
            "does not work",
            "doesn't work",
        ],
    },
    Label { name: "regression", words: &["regression", "worked before", "since the update"] },
    Label {
        name: "performance",
        words: &["slow", "latency", "timeout", "performance", "memory leak", "high cpu", "hangs"],
    },
    Label {
        name: "enhancement",
        words: &[
            "feature",
            "feature request",
            "would be nice",
            "add support",
            "please add",
            "proposal",
        ],
    },
    Label { name: "documentation", words: &["documentation", "docs", "readme", "typo"] },
    Label { name: "question", words: &["how do i", "how can i", "question", "is it possible"] },
    Label { name: "test", words: &["flaky", "test fails", "failing test"] },
];

/// How often words must speak for a label; those of the title count three times.
const HITS_MIN: usize = 2;

/// The labels of a page, and those that its words suggest.
pub(super) fn suggest(page: &Page) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |label: &str| {
        let label = extract::line(label, 60);
        let lower = label.to_lowercase();
        let has = |known: &String| {
            known.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == lower)
                || known.to_lowercase() == lower
        };
        if !label.is_empty() && !found.iter().any(has) && found.len() < limits::ISSUE_LABELS_MAX {
            found.push(label);
        }
    };
    for label in &page.labels {
        add(label);
    }
    let level = format!(" {} {} ", page.status, page.labels.join(" ")).to_lowercase();
    if level.contains("fatal") {
        add("critical");
    }
    if level.contains("level:error") || level.contains(" error ") || level.contains("level: error")
    {
        add("bug");
    }
    let (title, body) =
        (spaced(&page.title), spaced(head(&page.body, limits::ISSUE_SCAN_BYTES_MAX)));
    let errors = error_types(&page.title).len() + error_types(&page.body).len();
    let mut suggested: Vec<(usize, &'static str)> = LABELS
        .iter()
        .map(|label| {
            let own = if label.name == "bug" { errors } else { 0 };
            let hits = |text: &str| {
                label
                    .words
                    .iter()
                    .map(|word| text.matches(&format!(" {word} ")).count())
                    .sum::<usize>()
            };
            (3 * hits(&title) + hits(&body) + own, label.name)
        })
        .filter(|(hits, _)| *hits >= HITS_MIN)
        .collect();
    // The sort is stable: of equals the more urgent one stands first.
    suggested.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    for (_, label) in suggested {
        add(label);
    }
    found
}

/// Lower case, every word between single spaces.
fn spaced(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    // Two spaces between words, so that neighbours are both found.
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, body: &str, labels: &[&str], status: &str) -> Page {
        Page {
            title: title.to_owned(),
            body: body.to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            status: status.to_owned(),
            ..Page::default()
        }
    }

    #[test]
    fn words_levels_and_labels_suggest() {
        let crash = page("Critical: checkout crashes", "TypeError. It fails.", &[], "open");
        assert_eq!(suggest(&crash), ["bug", "critical"]);
        let known = page("Add support for dark mode", "", &["type: enhancement", "ui"], "open");
        assert_eq!(suggest(&known), ["type: enhancement", "ui"]);
        let sentry = page("x", "", &["level:fatal"], "unresolved");
        assert_eq!(suggest(&sentry), ["level:fatal", "critical"]);
        assert!(suggest(&page("Hello", "A remark.", &[], "")).is_empty());
    }
}
