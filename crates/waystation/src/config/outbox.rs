//! Sending to services.

use anyhow::{Result, bail};
use hub::relay::settings::OutboxSettings;
use protocol::limits::relay as limits;
use schemars::JsonSchema;
use serde::Deserialize;

/// Sending to services.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutboxConfig {
    /// How many actions are sent at the same time; of each place it is one.
    pub(crate) in_flight: usize,
}

impl Default for OutboxConfig {
    fn default() -> Self {
        Self { in_flight: limits::OUTBOX_IN_FLIGHT_MAX }
    }
}

impl OutboxConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> OutboxSettings {
        OutboxSettings { in_flight_max: self.in_flight }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(1..=limits::OUTBOX_IN_FLIGHT_CONFIGURED_MAX).contains(&self.in_flight) {
            bail!(
                "relay.outbox.in_flight = {} must be from 1 to {}",
                self.in_flight,
                limits::OUTBOX_IN_FLIGHT_CONFIGURED_MAX
            );
        }
        Ok(())
    }
}
