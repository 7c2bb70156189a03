//! Personal data on labelled sets: six locales, sentences, logs, JSON, code and payloads of errors.
//!
//! The sets are made from a seed, so anybody can make the same ones: `bench pii-set` writes one as lines
//! of JSON, each with its text and the bytes of every value in it.

mod clean;
mod keys;
mod lot;
mod phones;
mod texts;
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use protocol::redact::{KnownNames, Redactor, TokenKey};
use serde::Serialize;

use crate::place::Place;
use crate::stats;
use crate::table::{self, Bar, Row};

/// The seed of the set that is measured.
const SEED: u64 = 20_260_217;
/// Labelled texts, and as many clean ones, of a whole run.
const TEXTS: usize = 6_000;
const TEXTS_QUICK: usize = 1_500;
/// Misses and false hits that are shown.
const SHOWN: usize = 40;

/// A text and what stands in it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Labelled {
    pub(crate) text: String,
    pub(crate) spans: Vec<Label>,
}

/// A value, by its bytes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Label {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) class: &'static str,
}

/// A set: labelled texts first, then clean ones.
fn set(count: usize, seed: u64) -> Vec<Labelled> {
    let mut lot = lot::Lot::new(seed);
    let mut texts: Vec<Labelled> = (0..count).map(|_| texts::labelled(&mut lot)).collect();
    texts.extend((0..count).map(|_| clean::text(&mut lot)));
    texts
}

/// Writes the set as lines of JSON.
pub(crate) fn publish(place: &Place) -> Result<()> {
    let mut lines = String::new();
    for text in set(count(place), SEED) {
        writeln!(lines, "{}", serde_json::to_string(&text)?)?;
    }
    let path = place.kept()?.join("pii.jsonl");
    std::fs::write(&path, lines)?;
    table::say(&format!("  {} written", path.display()));
    Ok(())
}

fn count(place: &Place) -> usize {
    if place.quick { TEXTS_QUICK } else { TEXTS }
}

/// What became of a set.
#[derive(Default)]
struct Outcome {
    /// Values of each class, and how many were found.
    by_class: BTreeMap<&'static str, (usize, usize)>,
    clean_texts: usize,
    false_hits: usize,
    shown: usize,
}

/// Rows 26 to 28.
#[expect(clippy::unnecessary_wraps, reason = "as every part of the bench")]
pub(crate) fn measure(place: &Place) -> Result<Vec<Row>> {
    let redactor = Redactor::new(TokenKey::of_workspace(b"bench", "bench"), KnownNames::default());
    let texts = set(count(place), SEED);
    let bytes: usize = texts.iter().map(|text| text.text.len()).sum();
    let mut outcome = Outcome::default();
    let began = stats::now();
    for text in &texts {
        judge(&redactor, text, &mut outcome);
    }
    let seconds = stats::since(began);
    table::say(&format!("  {:.1} MB a second", stats::number(bytes) / 1e6 / seconds));
    let recall = |class: &str| {
        let (all, found) = outcome.by_class.get(class).copied().unwrap_or((1, 0));
        stats::number(found) / stats::number(all.max(1))
    };
    let exact = ["email", "card", "iban", "ssn", "ip", "api_key"];
    let worst = exact.iter().map(|class| recall(class)).fold(1.0, f64::min);
    let each: Vec<String> =
        exact.iter().map(|class| format!("{class} {:.4}", recall(class))).collect();
    let false_hits =
        stats::number(outcome.false_hits) * 1_000.0 / stats::number(outcome.clean_texts.max(1));
    let row = |number, what: &str, ours: String, value, bar| Row {
        number,
        what: what.to_owned(),
        ours,
        reference: "—".to_owned(),
        value: Some(value),
        unit: "",
        bar,
    };
    Ok(vec![
        row(
            "26",
            "personal data: the worst recall of six classes",
            each.join(", "),
            worst,
            Bar::AtLeast(0.99),
        ),
        row("27", "telephones: recall", String::new(), recall("phone"), Bar::AtLeast(0.95)),
        row("28", "false hits in 1,000 clean texts", String::new(), false_hits, Bar::AtMost(10.0)),
    ])
}

fn judge(redactor: &Redactor, text: &Labelled, outcome: &mut Outcome) {
    let found = redactor.find(&text.text);
    for label in &text.spans {
        let counts = outcome.by_class.entry(label.class).or_default();
        counts.0 += 1;
        let is_found = found.iter().any(|span| {
            span.class.name() == label.class && span.start < label.end && label.start < span.end
        });
        counts.1 += usize::from(is_found);
        if !is_found && outcome.shown < SHOWN {
            outcome.shown += 1;
            table::say(&format!("  missed {}: {:?}", label.class, text.text));
        }
    }
    if text.spans.is_empty() {
        outcome.clean_texts += 1;
        outcome.false_hits += found.len();
        for span in found.iter().take(SHOWN.saturating_sub(outcome.shown)) {
            outcome.shown += 1;
            let value = text.text.get(span.start..span.end).unwrap_or_default();
            table::say(&format!("  falsely {} {value:?}: {:?}", span.class, text.text));
        }
    }
}
