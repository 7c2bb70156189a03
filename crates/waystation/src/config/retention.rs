//! How long the relay keeps what is over.

use anyhow::{Result, bail};
use hub::relay::settings::RetentionSettings;
use protocol::limits::retention as limits;
use schemars::JsonSchema;
use serde::Deserialize;

const DAY_MS: i64 = 24 * 3_600_000;

/// How long what is over is kept. What somebody still needs stays, however old it is; messages and the
/// audit trail are not touched.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "a setting names its unit")]
pub(crate) struct RetentionConfig {
    /// For how many days work that is done, actions that arrived, decided proposals and tools that
    /// answered are kept.
    pub(crate) finished_days: i64,
    /// For how many days work and actions that were given up, and tools that failed, are kept, so that
    /// they can be tried again.
    pub(crate) dead_days: i64,
    /// For how many days it is known what the hub posted itself: it makes no work when it comes back, and
    /// an answer beneath it finds its thread.
    pub(crate) posted_days: i64,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self {
            finished_days: limits::FINISHED_MS / DAY_MS,
            dead_days: limits::DEAD_MS / DAY_MS,
            posted_days: limits::POSTED_MS / DAY_MS,
        }
    }
}

impl RetentionConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> RetentionSettings {
        RetentionSettings {
            finished_ms: self.finished_days.saturating_mul(DAY_MS),
            dead_ms: self.dead_days.saturating_mul(DAY_MS),
            posted_ms: self.posted_days.saturating_mul(DAY_MS),
        }
    }

    pub(super) fn check(&self, keep_keys_days: i64) -> Result<()> {
        let fields = [
            ("finished_days", self.finished_days),
            ("dead_days", self.dead_days),
            ("posted_days", self.posted_days),
        ];
        for (field, days) in fields {
            if !(1..=limits::DAYS_MAX).contains(&days) {
                bail!("relay.retention.{field} = {days} must be from 1 to {}", limits::DAYS_MAX);
            }
        }
        if self.dead_days < self.finished_days {
            bail!(
                "relay.retention.dead_days = {} must be at least relay.retention.finished_days = {}: \
                 what was given up waits for somebody",
                self.dead_days,
                self.finished_days
            );
        }
        if self.posted_days < keep_keys_days {
            bail!(
                "relay.retention.posted_days = {} must be at least relay.keep_keys_days = \
                 {keep_keys_days}: what the hub posted itself must not come back as work",
                self.posted_days
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(finished_days: i64, dead_days: i64, posted_days: i64) -> RetentionConfig {
        RetentionConfig { finished_days, dead_days, posted_days }
    }

    #[test]
    fn the_defaults_are_good_and_reach_the_hub() {
        let config = RetentionConfig::default();
        config.check(90).unwrap();
        assert_eq!(config.settings(), RetentionSettings::default());
        assert_eq!(days(7, 14, 100).settings().dead_ms, 14 * DAY_MS);
    }

    #[test]
    fn what_would_forget_too_early_is_refused_with_its_name() {
        for (config, name) in [
            (days(0, 90, 365), "finished_days = 0"),
            (days(30, 29, 365), "dead_days = 29"),
            (days(30, 90, 89), "posted_days = 89"),
            (days(30, 40_000, 365), "dead_days = 40000"),
        ] {
            let error = config.check(90).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
