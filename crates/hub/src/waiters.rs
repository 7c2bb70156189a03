//! Those who wait: so many altogether, and so many for each agent.

use std::collections::HashMap;

use parking_lot::Mutex;
use protocol::{Caller, limits};

use crate::error::{Error, Result};

/// A workspace and an agent of it.
type Agent = (String, String);

/// Calls that wait for others.
#[derive(Default)]
pub(crate) struct Waiters(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    all: usize,
    of_agents: HashMap<Agent, usize>,
}

/// One that waits, for as long as it does.
pub(crate) struct Waiter<'a> {
    waiters: &'a Waiters,
    agent: Agent,
}

impl Waiters {
    /// Counts one more for a caller, unless there are as many as there may be.
    pub(crate) fn begin(&self, caller: &Caller) -> Result<Waiter<'_>> {
        let agent = (caller.workspace_id.clone(), caller.agent_id.clone());
        let mut counts = self.0.lock();
        if counts.of_agents.get(&agent).is_some_and(|count| *count >= limits::WAITERS_PER_AGENT_MAX)
        {
            return Err(Error::TooManyWaits { waits_max: limits::WAITERS_PER_AGENT_MAX });
        }
        if counts.all >= limits::WAITERS_MAX {
            return Err(Error::Overloaded);
        }
        counts.all += 1;
        *counts.of_agents.entry(agent.clone()).or_default() += 1;
        Ok(Waiter { waiters: self, agent })
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut counts = self.waiters.0.lock();
        counts.all -= 1;
        if let Some(count) = counts.of_agents.get_mut(&self.agent) {
            *count -= 1;
            if *count == 0 {
                counts.of_agents.remove(&self.agent);
            }
        }
    }
}
