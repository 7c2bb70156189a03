//! Quotas: so many posts and calls a second for each agent, with a burst.
//!
//! The generic cell rate algorithm: one number an agent and kind, the moment its bucket is full again.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;
use protocol::{Caller, Timestamp, limits};

use crate::error::{Error, Result};
use crate::operation::Quota;

/// How much an agent may do.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// On average, a second.
    pub per_second: u32,
    /// At once.
    pub burst: u32,
}

/// The quotas of every agent.
pub(crate) struct Quotas {
    posts: Rate,
    calls: Rate,
    hasher: RandomState,
    full_at_us: Mutex<HashMap<(u64, u8), i64>>,
}

impl Quotas {
    pub(crate) fn new(posts: Rate, calls: Rate) -> Self {
        Self { posts, calls, hasher: RandomState::new(), full_at_us: Mutex::default() }
    }

    /// Takes one from the caller's quota, or says how long to wait.
    pub(crate) fn take(&self, caller: &Caller, quota: Quota, now: Timestamp) -> Result<()> {
        let (rate, what, kind) = match quota {
            Quota::Posts => (self.posts, "messages", 0),
            Quota::Calls | Quota::Waits => (self.calls, "calls", 1),
        };
        let step_us = 1_000_000 / i64::from(rate.per_second.max(1));
        let room_us = step_us * i64::from(rate.burst.max(1));
        let now_us = now.as_ms().saturating_mul(1_000);
        let key = (self.hasher.hash_one((&caller.workspace_id, &caller.agent_id)), kind);
        let mut full_at = self.full_at_us.lock();
        if full_at.len() >= limits::QUOTA_CALLERS_MAX {
            full_at.retain(|_, full_at_us| *full_at_us > now_us);
        }
        let slot = full_at.entry(key).or_insert(now_us);
        if *slot > now_us + room_us {
            // No burst reaches so far ahead: the clock was set back, and nobody is to wait for that.
            *slot = now_us;
        }
        let next_us = (*slot).max(now_us) + step_us;
        let over_us = next_us - (now_us + room_us);
        if over_us > 0 {
            let retry_after_ms = u64::try_from(over_us / 1_000 + 1).unwrap_or(1);
            return Err(Error::RateLimited { what, retry_after_ms });
        }
        *slot = next_us;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Role, Scopes};

    fn caller(agent: &str) -> Caller {
        Caller {
            agent_id: agent.to_owned(),
            workspace_id: "w".to_owned(),
            role: Role::Worker,
            session_id: "s".to_owned(),
            scopes: Scopes::ALL,
            chats: protocol::chat::ChatGrant::None,
            toolsets: None,
            jti: "j".to_owned(),
            iat: Timestamp::from_ms(0),
            exp: Timestamp::from_ms(i64::MAX),
        }
    }

    #[test]
    fn a_burst_passes_then_the_rate_holds_and_says_when() {
        let quotas =
            Quotas::new(Rate { per_second: 10, burst: 3 }, Rate { per_second: 1, burst: 1 });
        let now = Timestamp::from_ms(1_000);
        for _ in 0..3 {
            quotas.take(&caller("a"), Quota::Posts, now).unwrap();
        }
        let Err(Error::RateLimited { retry_after_ms, .. }) =
            quotas.take(&caller("a"), Quota::Posts, now)
        else {
            panic!("the fourth at once must be refused");
        };
        assert_eq!(retry_after_ms, 101);
        quotas.take(&caller("b"), Quota::Posts, now).unwrap();
        quotas.take(&caller("a"), Quota::Posts, now.plus_ms(101)).unwrap();
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let rate = Rate { per_second: 10, burst: 3 };
        let quotas = Quotas::new(rate, rate);
        let now = Timestamp::from_ms(10_000_000);
        for _ in 0..3 {
            quotas.take(&caller("a"), Quota::Posts, now).unwrap();
        }
        assert!(quotas.take(&caller("a"), Quota::Posts, now).is_err());
        let earlier = now.plus_ms(-3_600_000);
        for _ in 0..3 {
            quotas.take(&caller("a"), Quota::Posts, earlier).unwrap();
        }
        assert!(quotas.take(&caller("a"), Quota::Posts, earlier).is_err());
    }
}
