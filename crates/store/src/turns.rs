//! How many share a commit: everyone who waits, or one half while the other half is on its way.
//!
//! Whoever is answered comes back with the next change after a while. When that takes less time than
//! a commit, waiting for everyone saves commits. When it takes more, one large batch has everyone wait
//! for the disk, and then the disk wait for everyone; two halves that take turns keep both busy.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use protocol::limits;

/// A crowd that is no larger than this is not split.
const SPLIT_MIN: usize = 32;
/// How much of a new duration goes into the smoothed one: one part in so many.
const SMOOTHING: u32 = 8;
/// After so many commits a crowd that has left counts little more than a third.
const FORGETTING: usize = 256;
/// Whoever was answered more than so many commits ago is not expected back.
const EXPECTED_MAX: usize = 8;

/// What the writer has seen of those who wait for it.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// When somebody was answered, and how many of them have not come back; the oldest first.
    away: VecDeque<(Instant, usize)>,
    /// How long a commit takes.
    commit: Duration,
    /// How long whoever is answered takes to come back.
    way_back: Duration,
    /// The most who waited at once, lately; each counts [`FORGETTING`].
    crowd: usize,
}

impl Turns {
    /// How many may share the next commit.
    pub(crate) fn limit(&self) -> usize {
        let crowd = self.crowd / FORGETTING;
        if crowd > SPLIT_MIN && self.way_back > self.commit {
            crowd.div_ceil(2).min(limits::WRITE_BATCH_MAX)
        } else {
            limits::WRITE_BATCH_MAX
        }
    }

    /// A batch begins that was asked for at these times, in this order.
    ///
    /// Who comes back is not known, only how many. Whoever was answered first counts as the first to
    /// come back: it makes no difference to the mean.
    pub(crate) fn asked(&mut self, times: impl Iterator<Item = Instant>) {
        let (mut sum, mut count) = (Duration::ZERO, 0_u32);
        for asked in times {
            let Some((answered, left)) = self.away.front_mut() else { break };
            // Nobody asks again before the answer: this is somebody new.
            let Some(took) = asked.checked_duration_since(*answered) else { continue };
            (sum, count) = (sum.saturating_add(took), count.saturating_add(1));
            if *left > 1 {
                *left -= 1;
            } else {
                self.away.pop_front();
            }
        }
        if count > 0 {
            self.way_back = smoothed(self.way_back, sum / count);
        }
    }

    /// A batch was committed, and is about to be answered; `waiting` wait for the next.
    pub(crate) fn committed(&mut self, took: Duration, batch: usize, waiting: usize, now: Instant) {
        self.commit = smoothed(self.commit, took);
        let faded = self.crowd - self.crowd / FORGETTING;
        self.crowd = faded.max((batch + waiting) * FORGETTING);
        self.away.push_back((now, batch));
        self.give_up(self.crowd / FORGETTING);
    }

    /// Expects no more than so many, with those who wait already, and nobody who was answered long ago.
    fn give_up(&mut self, expected: usize) {
        let mut over =
            self.away.iter().map(|(_, left)| left).sum::<usize>().saturating_sub(expected);
        while let Some((_, left)) = self.away.front_mut() {
            let gone = over.min(*left);
            (over, *left) = (over - gone, *left - gone);
            if *left > 0 && self.away.len() <= EXPECTED_MAX {
                break;
            }
            self.away.pop_front();
        }
    }
}

fn smoothed(before: Duration, new: Duration) -> Duration {
    before / SMOOTHING * (SMOOTHING - 1) + new / SMOOTHING
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: Duration = Duration::from_micros(500);

    /// So many who each ask again `way_back` after they were answered, for a hundred commits.
    fn limit_for(crowd: usize, way_back: Duration) -> usize {
        let mut turns = Turns::default();
        #[expect(clippy::disallowed_methods, reason = "a beginning to count from")]
        let mut now = Instant::now();
        for _ in 0..100 {
            let batch = turns.limit().min(crowd);
            turns.asked(std::iter::repeat_n(now + way_back, batch));
            now += way_back + COMMIT;
            turns.committed(COMMIT, batch, crowd - batch, now);
        }
        turns.limit()
    }

    #[test]
    fn whoever_comes_back_at_once_goes_with_everyone() {
        assert_eq!(limit_for(64, COMMIT / 4), limits::WRITE_BATCH_MAX);
    }

    #[test]
    fn halves_take_turns_when_the_way_back_is_long() {
        assert_eq!(limit_for(64, COMMIT * 2), 32);
        assert_eq!(limit_for(101, COMMIT * 2), 51);
    }

    #[test]
    fn half_of_a_great_crowd_is_still_bounded() {
        assert_eq!(limit_for(4 * limits::WRITE_BATCH_MAX, COMMIT * 2), limits::WRITE_BATCH_MAX);
    }

    #[test]
    fn a_few_are_not_split() {
        assert_eq!(limit_for(SPLIT_MIN, COMMIT * 2), limits::WRITE_BATCH_MAX);
    }

    #[test]
    fn a_crowd_that_has_left_is_forgotten() {
        let mut turns = Turns::default();
        #[expect(clippy::disallowed_methods, reason = "a beginning to count from")]
        let now = Instant::now();
        turns.committed(COMMIT, 200, 0, now);
        turns.asked(std::iter::once(now + 10 * COMMIT * SMOOTHING));
        assert_eq!(turns.limit(), 100);
        for _ in 0..2_000 {
            turns.committed(COMMIT, 1, 0, now);
        }
        assert_eq!(turns.limit(), limits::WRITE_BATCH_MAX);
    }

    #[test]
    fn the_way_back_is_told_from_a_wait_for_the_other_half() {
        let mut turns = Turns::default();
        #[expect(clippy::disallowed_methods, reason = "a beginning to count from")]
        let mut now = Instant::now();
        let way_back = COMMIT / 2;
        let mut asked = [Some(now), None];
        for turn in 0..200 {
            // One half is written while the other comes back, and waits.
            if let Some(asked) = asked[turn % 2] {
                turns.asked(std::iter::repeat_n(asked, 32));
            }
            now += COMMIT;
            turns.committed(COMMIT, 32, 32, now);
            asked[turn % 2] = Some(now + way_back);
        }
        assert!(turns.way_back > way_back / 8 * 7, "{:?}", turns.way_back);
        assert!(turns.way_back <= way_back, "{:?}", turns.way_back);
    }

    #[test]
    fn whoever_does_not_come_back_is_not_expected_for_ever() {
        let mut turns = Turns::default();
        #[expect(clippy::disallowed_methods, reason = "a beginning to count from")]
        let mut now = Instant::now();
        turns.committed(COMMIT, 64, 0, now);
        for _ in 0..1_000 {
            let asked = now + COMMIT;
            now += 2 * COMMIT;
            turns.asked(std::iter::repeat_n(asked, 10));
            turns.committed(COMMIT, 10, 0, now);
        }
        assert!(turns.way_back <= COMMIT, "{:?}", turns.way_back);
        assert!(turns.away.len() <= EXPECTED_MAX);
    }
}
