//! What a run found out: one row a measurement, printed as a table and kept as JSON.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

/// How good a row must be.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// It is only worth knowing beside another row.
    None,
}

/// One measurement beside its reference.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) number: &'static str,
    pub(crate) what: String,
    pub(crate) ours: String,
    pub(crate) reference: String,
    /// What the bar is held against: a ratio, or a figure with a unit. Missing when not measured.
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
    pub(crate) bar: Bar,
}

impl Row {
    fn verdict(&self) -> &'static str {
        match (self.value, self.bar) {
            (None, _) => "—",
            (_, Bar::None) => "",
            (Some(value), Bar::AtMost(most)) if value <= most => "ok",
            (Some(value), Bar::AtLeast(least)) if value >= least => "ok",
            _ => "MISS",
        }
    }

    fn cells(&self) -> [String; 7] {
        let value = self.value.map_or("—".to_owned(), |value| figure(value, self.unit));
        let bar = match self.bar {
            Bar::AtMost(most) => format!("≤ {}", figure(most, self.unit)),
            Bar::AtLeast(least) => format!("≥ {}", figure(least, self.unit)),
            Bar::None => "—".to_owned(),
        };
        [
            self.number.to_owned(),
            self.what.clone(),
            self.ours.clone(),
            self.reference.clone(),
            value,
            bar,
            self.verdict().to_owned(),
        ]
    }
}

fn figure(value: f64, unit: &str) -> String {
    let digits = if value >= 10.0 { 1 } else { 2 };
    match unit {
        "×" => format!("{value:.digits$}×"),
        "" => format!("{value:.digits$}"),
        unit => format!("{value:.digits$} {unit}"),
    }
}

/// Prints the rows as a table.
pub(crate) fn print(rows: &[Row]) -> Result<()> {
    let head = ["#", "what", "ours", "reference", "value", "bar", ""].map(str::to_owned);
    let lines: Vec<[String; 7]> =
        std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = std::io::stdout().lock();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join(" | ").trim_end())?;
    }
    Ok(())
}

/// Keeps the rows, with what else is worth knowing about the run.
pub(crate) fn keep(path: &Path, rows: &[Row], facts: &serde_json::Value) -> Result<()> {
    let all = serde_json::json!({ "facts": facts, "rows": rows });
    std::fs::write(path, serde_json::to_vec_pretty(&all)?)?;
    Ok(())
}

/// Says what is going on.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        // Nobody listens any more; the JSON file still tells.
    }
}
