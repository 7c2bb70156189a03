//! Wrong tokens cost time: whoever guesses many is answered slowly. A right token is never slowed down.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;
use protocol::{Timestamp, limits};

const MINUTE_MS: i64 = 60_000;

/// How often each address got a token wrong lately.
#[derive(Default)]
pub(crate) struct Failures {
    recent: Mutex<HashMap<IpAddr, (Timestamp, u32)>>,
}

impl Failures {
    /// Counts one failure; `true` when its answer should take its time.
    pub(crate) fn count(&self, address: IpAddr, now: Timestamp) -> bool {
        let mut recent = self.recent.lock();
        if recent.len() >= limits::AUTH_FAILURE_ADDRESSES_MAX {
            recent.retain(|_, (since, _)| now.ms_since(*since) < MINUTE_MS);
        }
        let (since, count) = recent.entry(address).or_insert((now, 0));
        if now.ms_since(*since) >= MINUTE_MS {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count > limits::AUTH_FAILURES_PER_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_failure_in_a_minute_is_slow_and_the_next_minute_forgets() {
        let failures = Failures::default();
        let (guesser, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let now = Timestamp::from_ms(1_000);
        for _ in 0..limits::AUTH_FAILURES_PER_MINUTE {
            assert!(!failures.count(guesser, now));
        }
        assert!(failures.count(guesser, now));
        assert!(!failures.count(other, now));
        assert!(!failures.count(guesser, now.plus_ms(MINUTE_MS)));
    }
}
