//! What an operator chooses about sending to services.

use protocol::limits::relay as limits;

/// What an operator chooses about sending to services.
#[derive(Clone, Debug)]
pub struct OutboxSettings {
    /// Actions sent at the same time.
    pub in_flight_max: usize,
}

impl Default for OutboxSettings {
    fn default() -> Self {
        Self { in_flight_max: limits::OUTBOX_IN_FLIGHT_MAX }
    }
}
