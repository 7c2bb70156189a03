//! How fast a service may be sent to: so many in any stretch of a time, whichever stretch one looks at.
//!
//! The times of what was sent are kept, as many as the limit allows, so a limit is never overrun by a
//! burst at the seam of two windows. Each hub keeps its own; a service that finds several hubs together
//! too fast says so, and then everything for that place waits.

use std::collections::{HashMap, VecDeque};

use connector_api::Pace;
use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::limits::relay as limits;

/// The limits that are in use.
#[derive(Default)]
pub(crate) struct Paces {
    places: Mutex<HashMap<String, Place>>,
}

#[derive(Default)]
struct Place {
    /// When something was sent, the oldest first; for each length of time its own.
    sent: HashMap<i64, VecDeque<i64>>,
    /// The service asked for patience until then.
    held_until_ms: i64,
}

impl Paces {
    /// Takes one from each of these limits, or from none of them and says when to ask again.
    pub(crate) fn take(&self, paces: &[Pace], now: Timestamp) -> Result<(), Timestamp> {
        let now_ms = now.as_ms();
        let mut places = self.places.lock();
        if places.len() >= limits::OUTBOX_PLACES_MAX {
            places.retain(|_, place| place.is_in_use(now_ms));
        }
        let free_ms = paces.iter().map(|pace| {
            let place = places.entry(pace.destination.clone()).or_default();
            place.free_ms(pace, now_ms)
        });
        match free_ms.max() {
            Some(free_ms) if free_ms > now_ms => return Err(Timestamp::from_ms(free_ms)),
            _ => {}
        }
        for pace in paces {
            if let Some(place) = places.get_mut(&pace.destination) {
                place.sent.entry(pace.per_ms).or_default().push_back(now_ms);
            }
        }
        Ok(())
    }

    /// A service asked for patience.
    pub(crate) fn hold(&self, paces: &[Pace], until: Timestamp) {
        let mut places = self.places.lock();
        for pace in paces {
            let place = places.entry(pace.destination.clone()).or_default();
            place.held_until_ms = place.held_until_ms.max(until.as_ms());
        }
    }
}

impl Place {
    /// When the next one may go.
    fn free_ms(&mut self, pace: &Pace, now_ms: i64) -> i64 {
        let count = usize::try_from(pace.count.max(1)).unwrap_or(1);
        let sent = self.sent.entry(pace.per_ms).or_default();
        // What lies in the future was counted before the clock was set back; nobody waits for that.
        sent.retain(|at| *at <= now_ms && *at > now_ms - pace.per_ms);
        let free_ms = match sent.len().checked_sub(count).and_then(|place| sent.get(place)) {
            Some(oldest) => oldest + pace.per_ms,
            None => now_ms,
        };
        free_ms.max(self.held_until_ms)
    }

    fn is_in_use(&self, now_ms: i64) -> bool {
        let is_fresh = |(per_ms, sent): (&i64, &VecDeque<i64>)| {
            sent.back().is_some_and(|at| at + per_ms > now_ms)
        };
        self.held_until_ms > now_ms || self.sent.iter().any(is_fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(count: u32, per_ms: i64) -> Pace {
        Pace { destination: "github:installation:7".to_owned(), count, per_ms }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + ms)
    }

    #[test]
    fn no_stretch_of_time_has_more_than_its_limit() {
        let paces = Paces::default();
        let both = [pace(3, 1_000), pace(4, 60_000)];
        for ms in [0, 400, 900] {
            paces.take(&both, at(ms)).unwrap();
        }
        assert_eq!(paces.take(&both, at(950)), Err(at(1_000)));
        paces.take(&both, at(1_000)).unwrap();
        assert_eq!(paces.take(&both, at(1_500)), Err(at(60_000)), "the longer limit holds too");
        paces.take(&both, at(60_000)).unwrap();
    }

    #[test]
    fn a_refused_one_takes_nothing_from_the_other_limits() {
        let paces = Paces::default();
        let (short, long) = (pace(1, 1_000), pace(2, 60_000));
        paces.take(&[short.clone(), long.clone()], at(0)).unwrap();
        for _ in 0..5 {
            assert!(paces.take(&[short.clone(), long.clone()], at(10)).is_err());
        }
        paces.take(&[short, long], at(1_000)).unwrap();
    }

    #[test]
    fn a_service_that_asks_for_patience_gets_it() {
        let paces = Paces::default();
        let limit = [pace(10, 1_000)];
        paces.hold(&limit, at(30_000));
        assert_eq!(paces.take(&limit, at(0)), Err(at(30_000)));
        paces.take(&limit, at(30_000)).unwrap();
    }

    #[test]
    fn a_clock_that_was_set_back_holds_nothing_up() {
        let paces = Paces::default();
        let limit = [pace(1, 1_000)];
        paces.take(&limit, at(3_600_000)).unwrap();
        paces.take(&limit, at(0)).unwrap();
    }
}
