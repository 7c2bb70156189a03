//! What was found, for people and for scripts.

use serde::Serialize;

use crate::commands::agents::took;
use crate::paint::Paint;
use crate::table::{Cell, Fit, Table, Tone};

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It was seen to work.
    Works,
    /// It is there; nobody has tried it.
    Untried,
    /// It is not there, and need not be.
    Missing,
    /// It should work, and does not.
    Broken,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// Of what: the hub, or a program.
    pub(super) subject: &'static str,
    /// What.
    pub(super) check: String,
    /// How it stands.
    pub(super) state: State,
    /// What was seen.
    pub(super) detail: String,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latency_ms: Option<i64>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

impl Finding {
    /// Something that was seen to be so.
    pub(super) fn new(
        subject: &'static str,
        check: impl Into<String>,
        state: State,
        detail: impl Into<String>,
    ) -> Self {
        let (check, detail) = (check.into(), detail.into());
        Self { subject, check, state, detail, latency_ms: None, advice: None }
    }

    /// And what to do about it.
    pub(super) fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// And how long it took.
    pub(super) fn taking(mut self, latency_ms: Option<i64>) -> Self {
        self.latency_ms = latency_ms;
        self
    }
}

/// The table, and below it what to do.
pub(super) fn lines(findings: &[Finding], width: usize, paint: Paint) -> Vec<String> {
    let mut table = Table::new(&[
        ("", Fit::Keep),
        ("of", Fit::Keep),
        ("what", Fit::Keep),
        ("state", Fit::Keep),
        ("took", Fit::Keep),
        ("seen", Fit::Cut),
    ]);
    for finding in findings {
        let (sign, word, tone) = match finding.state {
            State::Works => ("✔", "works", Tone::Good),
            State::Untried => ("·", "there", Tone::Plain),
            State::Missing => ("-", "missing", Tone::Quiet),
            State::Broken => ("✘", "broken", Tone::Bad),
        };
        let took = finding.latency_ms.map(took).unwrap_or_default();
        table.push(vec![
            Cell::new(sign, tone),
            Cell::plain(finding.subject),
            Cell::plain(&finding.check),
            Cell::new(word, tone),
            Cell::plain(&took),
            Cell::plain(&finding.detail),
        ]);
    }
    let mut lines = table.lines(width, paint);
    let advice: Vec<&Finding> = findings.iter().filter(|found| found.advice.is_some()).collect();
    if !advice.is_empty() {
        lines.push(String::new());
        lines.push("To do:".to_owned());
    }
    for finding in advice {
        let advice = crate::output::safe(finding.advice.as_deref().unwrap_or_default());
        lines.push(format!("  {} {}: {advice}", finding.subject, finding.check));
    }
    lines
}
