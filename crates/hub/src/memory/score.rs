//! How well a memory answers: relevance times recency, as pure functions.
//!
//! Relevance joins the ranks by words and by likeness with reciprocal rank fusion. Recency is
//! `clamp(floor + gain · 2^(−age ⁄ half-life), floor, ceiling)`, where the age runs from the last use.

use protocol::relay::MemoryKind;
use store::Candidate;

/// The constants of the formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreSettings {
    /// What an old memory is worth at least.
    pub floor: f64,
    /// What a fresh one gains.
    pub gain: f64,
    /// What any is worth at most, and what a pinned one is worth always.
    pub ceiling: f64,
    /// After so many milliseconds without use half of the gain is gone, for memories of threads.
    pub episodic_half_life_ms: i64,
    /// The same for memories of the workspace.
    pub long_term_half_life_ms: i64,
    /// How little the first ranks differ from the next.
    pub fusion_k: f64,
}

const DAY_MS: i64 = 24 * 3_600_000;

impl Default for ScoreSettings {
    fn default() -> Self {
        Self {
            floor: 0.3,
            gain: 1.2,
            ceiling: 1.5,
            episodic_half_life_ms: 14 * DAY_MS,
            long_term_half_life_ms: 90 * DAY_MS,
            fusion_k: 60.0,
        }
    }
}

/// When a memory was last of use, and whether it ages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// Milliseconds since its last use.
    pub unused_ms: i64,
    /// Whether it does not age.
    pub is_pinned: bool,
    /// Where it is remembered.
    pub kind: MemoryKind,
}

impl ScoreSettings {
    /// What the age of a memory makes of its relevance.
    #[expect(clippy::cast_precision_loss, reason = "ages in milliseconds stay below 2^52")]
    pub fn recency(&self, age: Age) -> f64 {
        if age.is_pinned {
            return self.ceiling;
        }
        let half_life_ms = match age.kind {
            MemoryKind::Episodic => self.episodic_half_life_ms,
            MemoryKind::LongTerm => self.long_term_half_life_ms,
        };
        let halvings = age.unused_ms.max(0) as f64 / half_life_ms.max(1) as f64;
        (self.floor + self.gain * (-halvings).exp2()).clamp(self.floor, self.ceiling)
    }

    /// How relevant something is by its ranks: 1 where both ways put it first.
    #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
    pub fn relevance(&self, candidate: &Candidate) -> f64 {
        let part =
            |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (self.fusion_k + rank as f64));
        let best = 2.0 / (self.fusion_k + 1.0);
        (part(candidate.by_words) + part(candidate.by_vector)) / best
    }

    /// Relevance times recency.
    pub fn score(&self, relevance: f64, age: Age) -> f64 {
        relevance * self.recency(age)
    }
}

#[cfg(test)]
mod tests {
    use store::MemoryItem;

    use super::*;

    fn age(days: f64, kind: MemoryKind) -> Age {
        #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds are meant")]
        let unused_ms = (days * 86_400_000.0) as i64;
        Age { unused_ms, is_pinned: false, kind }
    }

    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} is not {wanted}");
    }

    #[test]
    fn recency_is_what_the_formula_says() {
        let settings = ScoreSettings::default();
        for (days, kind, wanted) in [
            (0.0, MemoryKind::Episodic, 1.5),
            (14.0, MemoryKind::Episodic, 0.9),
            (28.0, MemoryKind::Episodic, 0.6),
            (140.0, MemoryKind::Episodic, 0.301_171_875),
            (0.0, MemoryKind::LongTerm, 1.5),
            (90.0, MemoryKind::LongTerm, 0.9),
            (180.0, MemoryKind::LongTerm, 0.6),
            (45.0, MemoryKind::LongTerm, 0.3 + 1.2 * std::f64::consts::FRAC_1_SQRT_2),
        ] {
            near(settings.recency(age(days, kind)), wanted);
        }
        let pinned = Age { is_pinned: true, ..age(10_000.0, MemoryKind::LongTerm) };
        near(settings.recency(pinned), 1.5);
        near(settings.recency(age(-3.0, MemoryKind::LongTerm)), 1.5);
        assert!(settings.recency(age(1e6, MemoryKind::Episodic)) >= 0.3);
    }

    #[test]
    fn ranks_of_both_ways_are_fused() {
        let settings = ScoreSettings::default();
        let candidate =
            |by_words, by_vector| Candidate { item: MemoryItem::Memory(1), by_words, by_vector };
        near(settings.relevance(&candidate(Some(1), Some(1))), 1.0);
        near(settings.relevance(&candidate(Some(1), None)), 0.5);
        near(settings.relevance(&candidate(None, Some(62))), 61.0 / 122.0 / 2.0);
        near(
            settings.relevance(&candidate(Some(2), Some(3))),
            f64::midpoint(61.0 / 62.0, 61.0 / 63.0),
        );
        near(settings.score(0.5, age(14.0, MemoryKind::Episodic)), 0.45);
    }
}
