//! Rounds of measurements, and what they come to.

use crate::stats::{Load, median};
use crate::table;

/// The loads of all rounds of one contestant.
#[derive(Default)]
pub(crate) struct Rounds(Vec<Load>);

impl Rounds {
    /// Adds a round, and shows it.
    pub(crate) fn push(&mut self, name: &str, load: Load) {
        table::say(&format!(
            "  {name:<28} {:>8.0}/s  p50 {:>7.3} ms  p99 {:>7.3} ms  {:>6.1} µs CPU",
            load.rate(),
            load.p50(),
            load.p99(),
            load.cpu_us()
        ));
        self.0.push(load);
    }

    /// The median of the rounds.
    pub(crate) fn median(&self, of: impl Fn(&Load) -> f64) -> f64 {
        median(&self.0.iter().map(of).collect::<Vec<_>>())
    }

    /// The median of the ratios that each round saw by itself.
    pub(crate) fn ratio(&self, to: &Self, of: impl Fn(&Load) -> f64) -> f64 {
        let pairs = self.0.iter().zip(&to.0);
        median(&pairs.map(|(ours, theirs)| of(ours) / of(theirs)).collect::<Vec<_>>())
    }
}
