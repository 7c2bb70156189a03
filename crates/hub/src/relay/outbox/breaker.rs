//! A place that does not answer is left alone for a while, then one request asks whether it is back.

use std::collections::HashMap;

use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::limits::relay as limits;

/// Every place that has failed lately.
#[derive(Default)]
pub(crate) struct Breakers {
    places: Mutex<HashMap<String, Breaker>>,
}

#[derive(Clone, Copy, Default)]
struct Breaker {
    /// Failures in a row.
    failures: u32,
    /// Nobody goes there before then; 0 while it is closed.
    open_until_ms: i64,
    /// How long it was left alone last.
    pause_ms: i64,
    /// Until when one asks whether it is back, and the others wait for what it learns.
    probed_until_ms: i64,
}

impl Breaker {
    fn look(&self, now: Timestamp) -> Result<(), Timestamp> {
        // No pause reaches so far ahead unless the clock was set back, and nobody is to wait for that.
        let far_ms = now.as_ms() + limits::OUTBOX_BREAKER_PAUSE_MS_MAX;
        let until_ms = self.open_until_ms.max(self.probed_until_ms);
        if until_ms > now.as_ms() && until_ms <= far_ms {
            return Err(Timestamp::from_ms(until_ms));
        }
        Ok(())
    }
}

impl Breakers {
    /// Whether something may go there now; if not, when to ask again. The first to come after the pause
    /// is the one that asks whether the place is back.
    pub(crate) fn enter(&self, place: &str, now: Timestamp) -> Result<(), Timestamp> {
        let mut places = self.places.lock();
        let Some(breaker) = places.get_mut(place) else { return Ok(()) };
        breaker.look(now)?;
        if breaker.open_until_ms > 0 {
            breaker.probed_until_ms = now.as_ms() + limits::OUTBOX_LEASE_MS;
        }
        Ok(())
    }

    /// The same for one who only wants to know.
    pub(crate) fn look(&self, place: &str, now: Timestamp) -> Result<(), Timestamp> {
        self.places.lock().get(place).map_or(Ok(()), |breaker| breaker.look(now))
    }

    /// The place answered, whatever it said.
    pub(crate) fn succeed(&self, place: &str) {
        self.places.lock().remove(place);
    }

    /// The place did not answer; `true` when it is left alone from now on.
    pub(crate) fn fail(&self, place: &str, now: Timestamp) -> bool {
        let mut places = self.places.lock();
        if places.len() >= limits::OUTBOX_PLACES_MAX {
            places.retain(|_, breaker| breaker.open_until_ms > now.as_ms());
        }
        let breaker = places.entry(place.to_owned()).or_default();
        breaker.failures += 1;
        breaker.probed_until_ms = 0;
        if breaker.failures < limits::OUTBOX_BREAKER_FAILURES {
            return false;
        }
        let was_open = breaker.open_until_ms != 0;
        breaker.pause_ms = match breaker.pause_ms {
            0 => limits::OUTBOX_BREAKER_PAUSE_MS,
            before => (before * 2).min(limits::OUTBOX_BREAKER_PAUSE_MS_MAX),
        };
        breaker.open_until_ms = now.as_ms() + breaker.pause_ms;
        !was_open
    }

    /// How many places are left alone.
    pub(crate) fn open(&self, now: Timestamp) -> usize {
        self.places.lock().values().filter(|one| one.open_until_ms > now.as_ms()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + ms)
    }

    #[test]
    fn a_silent_place_is_left_alone_and_then_asked_once() {
        let breakers = Breakers::default();
        for n in 1..limits::OUTBOX_BREAKER_FAILURES {
            assert!(!breakers.fail("p", at(0)), "{n} failures are not enough");
            breakers.enter("p", at(0)).unwrap();
        }
        assert!(breakers.fail("p", at(0)));
        assert_eq!(breakers.open(at(0)), 1);
        let back = at(limits::OUTBOX_BREAKER_PAUSE_MS);
        assert_eq!(breakers.enter("p", at(1)), Err(back));
        breakers.enter("p", back).unwrap();
        assert!(breakers.enter("p", back).is_err(), "one asks, the others wait");
        assert!(!breakers.fail("p", back), "it was left alone already");
        let later = back.plus_ms(2 * limits::OUTBOX_BREAKER_PAUSE_MS);
        assert_eq!(breakers.enter("p", back), Err(later), "each pause is longer");
        breakers.enter("p", later).unwrap();
        breakers.succeed("p");
        breakers.enter("p", later).unwrap();
        breakers.enter("other", at(0)).unwrap();
    }

    #[test]
    fn one_that_asked_and_vanished_keeps_nobody_waiting_for_ever() {
        let breakers = Breakers::default();
        for _ in 0..limits::OUTBOX_BREAKER_FAILURES {
            breakers.fail("p", at(0));
        }
        let back = at(limits::OUTBOX_BREAKER_PAUSE_MS);
        breakers.enter("p", back).unwrap();
        breakers.enter("p", back.plus_ms(limits::OUTBOX_LEASE_MS)).unwrap();
    }
}
