//! How long a link waits after a failure, and what people are told meanwhile.

use std::time::Duration;

use connector_api::ConnectorError;
use protocol::limits::links as limits;

use super::state::LinkStatus;

/// How long to wait before the next try. `random` spreads the tries of many hubs.
pub(super) fn wait(error: &ConnectorError, failures: u32, random: u32) -> Duration {
    let fraction = f64::from(random) / (f64::from(u32::MAX) + 1.0);
    if let ConnectorError::RateLimited { retry_after } = error {
        // Never earlier than asked.
        return (*retry_after).min(limits::LINK_RETRY_AFTER_MAX)
            + limits::LINK_RETRY_MIN.mul_f64(fraction);
    }
    let first = match error {
        ConnectorError::Unauthorized { .. } | ConnectorError::Setting { .. } => {
            limits::LINK_ATTENTION_RETRY_MIN
        }
        _ => limits::LINK_RETRY_MIN,
    };
    let doublings = failures.saturating_sub(1).min(16);
    let longest = first.saturating_mul(1 << doublings).min(limits::LINK_RETRY_MAX);
    longest.mul_f64(0.5 + fraction / 2.0)
}

/// How a link is doing after a failure, and why.
pub(super) fn state_after(error: &ConnectorError) -> (LinkStatus, String) {
    let status = match error {
        ConnectorError::RateLimited { .. } => LinkStatus::RateLimited,
        ConnectorError::Unreachable { .. }
        | ConnectorError::NotReached { .. }
        | ConnectorError::Protocol { .. }
        | ConnectorError::Stopping => LinkStatus::Unreachable,
        ConnectorError::Setting { .. }
        | ConnectorError::Unauthorized { .. }
        | ConnectorError::Conflict { .. }
        | ConnectorError::Refused { .. }
        | ConnectorError::BadSignature
        | ConnectorError::CannotTell
        | ConnectorError::Unsupported { .. } => LinkStatus::NeedsAttention,
    };
    (status, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable() -> ConnectorError {
        ConnectorError::Unreachable { reason: "no route".to_owned() }
    }

    #[test]
    fn each_failure_doubles_the_wait_up_to_a_limit() {
        let longest = |failures| wait(&unreachable(), failures, u32::MAX).as_secs_f64();
        assert!((longest(1) - 1.0).abs() < 0.01);
        assert!((longest(2) - 2.0).abs() < 0.01);
        assert!((longest(5) - 16.0).abs() < 0.01);
        for failures in [20, 1_000, u32::MAX] {
            assert!((longest(failures) - 300.0).abs() < 0.01);
        }
    }

    #[test]
    fn tries_are_spread_over_the_second_half_of_the_wait() {
        let waits = |random| wait(&unreachable(), 4, random).as_secs_f64();
        assert!((waits(0) - 4.0).abs() < 0.01);
        assert!((waits(u32::MAX / 2) - 6.0).abs() < 0.01);
    }

    #[test]
    fn a_service_that_asks_for_patience_gets_it() {
        let asked =
            |seconds| ConnectorError::RateLimited { retry_after: Duration::from_secs(seconds) };
        for random in [0, 7, u32::MAX] {
            let waits = wait(&asked(90), 1, random);
            assert!(waits >= Duration::from_secs(90) && waits <= Duration::from_secs(91));
        }
        assert!(wait(&asked(u64::MAX), 1, 0) <= limits::LINK_RETRY_AFTER_MAX);
    }

    #[test]
    fn what_a_person_must_mend_is_not_tried_every_second() {
        let refused = ConnectorError::Unauthorized { reason: "revoked".to_owned() };
        assert!(wait(&refused, 1, 0) >= Duration::from_secs(30));
        assert_eq!(state_after(&refused).0, LinkStatus::NeedsAttention);
    }
}
