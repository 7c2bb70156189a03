//! What is remembered: how relevance and age are weighed.

use anyhow::{Result, bail};
use hub::memory::score::ScoreSettings;
use hub::relay::settings::MemorySettings;
use schemars::JsonSchema;
use serde::Deserialize;

const DAY_MS: f64 = 86_400_000.0;
const DAYS_MAX: f64 = 36_500.0;
const WEIGHT_MAX: f64 = 100.0;

/// Memory. A memory scores relevance × clamp(floor + gain × 2^(−age ⁄ half-life), floor, ceiling), where
/// the age runs from its last use.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MemoryConfig {
    /// What an old memory is worth at least.
    pub(crate) recency_floor: f64,
    /// What a fresh one gains.
    pub(crate) recency_gain: f64,
    /// What any is worth at most, and what a pinned one is worth always.
    pub(crate) recency_ceiling: f64,
    /// After so many days without use half of the gain is gone, for memories of threads.
    pub(crate) episodic_half_life_days: f64,
    /// The same for memories of the workspace.
    pub(crate) long_term_half_life_days: f64,
    /// How little the first ranks of a search differ from the next.
    pub(crate) fusion_k: f64,
}

impl Default for MemoryConfig {
    #[expect(clippy::cast_precision_loss, reason = "a few weeks in milliseconds")]
    fn default() -> Self {
        let score = ScoreSettings::default();
        Self {
            recency_floor: score.floor,
            recency_gain: score.gain,
            recency_ceiling: score.ceiling,
            episodic_half_life_days: score.episodic_half_life_ms as f64 / DAY_MS,
            long_term_half_life_days: score.long_term_half_life_ms as f64 / DAY_MS,
            fusion_k: score.fusion_k,
        }
    }
}

impl MemoryConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> MemorySettings {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be a hundred years at most"
        )]
        let ms = |days: f64| (days * DAY_MS) as i64;
        MemorySettings {
            score: ScoreSettings {
                floor: self.recency_floor,
                gain: self.recency_gain,
                ceiling: self.recency_ceiling,
                episodic_half_life_ms: ms(self.episodic_half_life_days),
                long_term_half_life_ms: ms(self.long_term_half_life_days),
                fusion_k: self.fusion_k,
            },
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in [
            ("recency_floor", self.recency_floor),
            ("recency_gain", self.recency_gain),
            ("recency_ceiling", self.recency_ceiling),
            ("fusion_k", self.fusion_k / 100.0),
        ] {
            if !(0.0..=WEIGHT_MAX).contains(&value) {
                bail!("relay.memory.{name} must be a number from 0 to {WEIGHT_MAX}");
            }
        }
        if self.recency_floor > self.recency_ceiling {
            bail!("relay.memory.recency_floor must be at most relay.memory.recency_ceiling");
        }
        for (name, days) in [
            ("episodic_half_life_days", self.episodic_half_life_days),
            ("long_term_half_life_days", self.long_term_half_life_days),
        ] {
            if !(0.001..=DAYS_MAX).contains(&days) {
                bail!("relay.memory.{name} must be from 0.001 to {DAYS_MAX}");
            }
        }
        Ok(())
    }
}
