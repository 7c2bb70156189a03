//! How often each address came lately, for what must not be tried without end: guessing tokens, and
//! calling hooks.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;
use protocol::{Timestamp, limits};

use crate::network;

const MINUTE_MS: i64 = 60_000;

/// How often each address came lately.
pub(crate) struct Visits {
    per_minute_max: u32,
    recent: Mutex<HashMap<IpAddr, (Timestamp, u32)>>,
}

impl Visits {
    /// Nobody came yet; so many visits a minute are nothing special.
    pub(crate) fn up_to(per_minute_max: u32) -> Self {
        Self { per_minute_max, recent: Mutex::default() }
    }

    /// Counts one visit; `true` when it is one too many.
    pub(crate) fn count(&self, address: IpAddr, now: Timestamp) -> bool {
        let mut recent = self.recent.lock();
        if recent.len() >= limits::AUTH_FAILURE_ADDRESSES_MAX {
            recent.retain(|_, (since, _)| is_lately(*since, now));
        }
        let (since, count) = recent.entry(network::of(address)).or_insert((now, 0));
        if !is_lately(*since, now) {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count > self.per_minute_max
    }

    /// Whether the next visit would be one too many.
    pub(crate) fn is_used_up(&self, address: IpAddr, now: Timestamp) -> bool {
        let recent = self.recent.lock();
        let lately = recent.get(&network::of(address));
        let lately = lately.filter(|(since, _)| is_lately(*since, now));
        lately.is_some_and(|(_, count)| *count >= self.per_minute_max)
    }
}

/// Whether a minute is under way that began then. One that begins in the future is over: the clock was
/// set back.
fn is_lately(since: Timestamp, now: Timestamp) -> bool {
    (0..MINUTE_MS).contains(&now.ms_since(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_visit_in_a_minute_is_too_many_and_the_next_minute_forgets() {
        let visits = Visits::up_to(limits::AUTH_FAILURES_PER_MINUTE);
        let (guesser, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let now = Timestamp::from_ms(1_000);
        for _ in 0..limits::AUTH_FAILURES_PER_MINUTE {
            assert!(!visits.count(guesser, now));
        }
        assert!(visits.is_used_up(guesser, now) && !visits.is_used_up(other, now));
        assert!(visits.count(guesser, now));
        assert!(!visits.count(other, now));
        assert!(!visits.count(guesser, now.plus_ms(MINUTE_MS)));
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let visits = Visits::up_to(1);
        let guesser = [10, 0, 0, 1].into();
        let now = Timestamp::from_ms(3_600_000);
        assert!(!visits.count(guesser, now) && visits.is_used_up(guesser, now));
        let before = now.plus_ms(-60_000);
        assert!(!visits.is_used_up(guesser, before));
        assert!(!visits.count(guesser, before));
    }

    #[test]
    fn whoever_has_a_network_of_addresses_is_one_visitor() {
        let visits = Visits::up_to(1);
        let now = Timestamp::from_ms(1_000);
        let from = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(!visits.count(from("2001:db8::1"), now));
        assert!(visits.is_used_up(from("2001:db8::2"), now));
        assert!(visits.count(from("2001:db8::2"), now));
        assert!(!visits.count(from("2001:db8:0:1::1"), now));
    }
}
