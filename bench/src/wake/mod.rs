//! Waking real agent CLIs that talk to a fake model: how long it takes from a post to the turn it
//! starts, beside what each CLI can do by itself, and whether a human's half-typed line survives.

mod claude;
mod codex;
mod house;
mod typing;

use anyhow::Result;
use testkit::agent_home::Cli;

use crate::place::Place;
use crate::stats;
use crate::table::{Bar, Row};

/// Wakes of each kind that are measured, and lines that are typed at each CLI.
const WAKES: usize = 20;

/// Rows 17 to 19.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let wakes = if place.quick { 6 } else { WAKES };
    let house = house::House::open(place).await?;
    let coder = house.run(Cli::Codex, "coder").await?;
    let mut rows = codex::measure(&house, &coder, wakes).await?;
    rows.push(typing::measure(&house, &coder, ("19a", Cli::Codex), wakes).await?);
    let reviewer = house.run(Cli::Claude, "reviewer").await?;
    rows.push(claude::measure(&house, &reviewer, wakes).await?);
    rows.push(typing::measure(&house, &reviewer, ("19b", Cli::Claude), wakes).await?);
    rows.sort_by_key(|row| row.number);
    Ok(rows)
}

/// A time beside the one it is compared with.
struct Pair {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Pair {
    fn ratio(&self) -> f64 {
        stats::median(&self.ours) / stats::median(&self.theirs).max(1e-9)
    }

    fn say(millis: &[f64]) -> String {
        let [p50, p90] = [0.5, 0.9].map(|share| stats::percentile(millis, share));
        format!("p50 {p50:.0} ms, p90 {p90:.0} ms")
    }

    fn row(&self, number: &'static str, what: &str, most: f64) -> Row {
        Row {
            number,
            what: what.to_owned(),
            ours: Self::say(&self.ours),
            reference: Self::say(&self.theirs),
            value: Some(self.ratio()),
            unit: "×",
            bar: Bar::AtMost(most),
        }
    }
}
