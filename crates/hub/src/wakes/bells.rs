//! Who waits for wakes, and telling them that one came or changed. Nothing is carried here: whoever is
//! told looks in the store, so nothing can be lost or doubled.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::limits::QUOTA_CALLERS_MAX;
use tokio::sync::Notify;

use crate::error::{Error, Result};

/// Workspace and agent.
type Agent = (String, String);

/// Workspace, agent and session.
pub(super) type Place = (String, String, String);

/// Everyone who waits for wakes.
#[derive(Default)]
pub(crate) struct Wakes {
    index: Mutex<Index>,
    /// Rings whenever any other bell could.
    any: Notify,
    /// The newest call that waits beside each session.
    parked: Mutex<HashMap<Place, String>>,
    /// When each agent may be triggered as if nobody ever had, in microseconds.
    triggers: Mutex<HashMap<Agent, i64>>,
}

#[derive(Default)]
struct Index {
    next_id: u64,
    agents: HashMap<Agent, HashMap<u64, Arc<Notify>>>,
    workspaces: HashMap<String, HashMap<u64, Arc<Notify>>>,
}

/// What rings when something happened to a wake of an agent, or of a whole workspace. It ends when it is
/// dropped.
pub(crate) struct Bell {
    wakes: Arc<Wakes>,
    id: u64,
    workspace: String,
    agent: Option<String>,
    notify: Arc<Notify>,
}

impl Wakes {
    /// Something happened to a wake of this agent, or to the agent: it may be reached now.
    pub(crate) fn ring(&self, workspace: &str, agent: &str) {
        self.any.notify_one();
        let index = self.index.lock();
        let key = (workspace.to_owned(), agent.to_owned());
        let of_agent = index.agents.get(&key).into_iter().flat_map(HashMap::values);
        let of_all = index.workspaces.get(workspace).into_iter().flat_map(HashMap::values);
        for notify in of_agent.chain(of_all) {
            notify.notify_one();
        }
    }

    /// Waits until something happened to any agent since the last call; for the one duty that asks.
    pub(crate) async fn rung(&self) {
        self.any.notified().await;
    }

    /// Rings for one agent.
    pub(crate) fn bell_of(self: &Arc<Self>, workspace: &str, agent: &str) -> Bell {
        self.bell(workspace, Some(agent))
    }

    /// Rings for every agent of a workspace.
    pub(crate) fn bell_of_all(self: &Arc<Self>, workspace: &str) -> Bell {
        self.bell(workspace, None)
    }

    fn bell(self: &Arc<Self>, workspace: &str, agent: Option<&str>) -> Bell {
        let notify = Arc::new(Notify::new());
        let mut index = self.index.lock();
        index.next_id += 1;
        let id = index.next_id;
        let waiters = match agent {
            Some(agent) => {
                index.agents.entry((workspace.to_owned(), agent.to_owned())).or_default()
            }
            None => index.workspaces.entry(workspace.to_owned()).or_default(),
        };
        waiters.insert(id, Arc::clone(&notify));
        drop(index);
        let (workspace, agent) = (workspace.to_owned(), agent.map(str::to_owned));
        Bell { wakes: Arc::clone(self), id, workspace, agent, notify }
    }

    /// A call waits beside a session from now on; who did before is superseded.
    pub(super) fn park(&self, place: &Place, by: &str) {
        self.parked.lock().insert(place.clone(), by.to_owned());
    }

    /// Whether no newer call waits beside a session.
    pub(super) fn is_newest(&self, place: &Place, by: &str) -> bool {
        self.parked.lock().get(place).is_some_and(|newest| newest == by)
    }

    /// A call gives its place up, unless a newer one has it.
    pub(super) fn unpark(&self, place: &Place, by: &str) {
        let mut parked = self.parked.lock();
        if parked.get(place).is_some_and(|newest| newest == by) {
            parked.remove(place);
        }
    }

    /// Takes one from what an agent may be triggered by others, or says how long to wait.
    pub(crate) fn take_trigger(
        &self,
        workspace: &str,
        agent: &str,
        per_minute: u32,
        now: Timestamp,
    ) -> Result<()> {
        let step_us = 60_000_000 / i64::from(per_minute.max(1));
        let room_us = step_us * i64::from(per_minute.max(1));
        let now_us = now.as_ms().saturating_mul(1_000);
        let mut triggers = self.triggers.lock();
        if triggers.len() >= QUOTA_CALLERS_MAX {
            triggers.retain(|_, full_at_us| *full_at_us > now_us);
        }
        let slot = triggers.entry((workspace.to_owned(), agent.to_owned())).or_insert(now_us);
        // No burst reaches so far ahead unless the clock was set back, and nobody is to wait for that.
        let full_at_us = if *slot > now_us + room_us { now_us } else { (*slot).max(now_us) };
        let over_us = full_at_us + step_us - (now_us + room_us);
        if over_us > 0 {
            let retry_after_ms = u64::try_from(over_us / 1_000 + 1).unwrap_or(1);
            return Err(Error::RateLimited { what: "wakes of this agent", retry_after_ms });
        }
        *slot = full_at_us + step_us;
        Ok(())
    }
}

impl Bell {
    /// Waits until it rang since the last call. What happens between two calls is kept.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let mut index = self.wakes.index.lock();
        let workspace = std::mem::take(&mut self.workspace);
        match self.agent.take() {
            Some(agent) => forget(&mut index.agents, &(workspace, agent), self.id),
            None => forget(&mut index.workspaces, &workspace, self.id),
        }
    }
}

fn forget<K: std::hash::Hash + Eq>(
    map: &mut HashMap<K, HashMap<u64, Arc<Notify>>>,
    key: &K,
    id: u64,
) {
    if let Some(waiters) = map.get_mut(key) {
        waiters.remove(&id);
        if waiters.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bell_rings_for_its_agent_and_leaves_nothing_behind() {
        let wakes = Arc::new(Wakes::default());
        let (one, all) = (wakes.bell_of("w", "a"), wakes.bell_of_all("w"));
        wakes.ring("w", "a");
        one.rung().await;
        all.rung().await;
        wakes.ring("w", "b");
        assert!(futures_util::FutureExt::now_or_never(one.rung()).is_none());
        all.rung().await;
        drop((one, all));
        let index = wakes.index.lock();
        assert!(index.agents.is_empty() && index.workspaces.is_empty());
    }

    #[test]
    fn an_agent_is_triggered_so_often_a_minute_and_no_more() {
        let wakes = Wakes::default();
        let at = |ms| Timestamp::from_ms(ms);
        for _ in 0..6 {
            wakes.take_trigger("w", "a", 6, at(1_000)).unwrap();
        }
        let Err(Error::RateLimited { retry_after_ms, .. }) =
            wakes.take_trigger("w", "a", 6, at(1_000))
        else {
            panic!("the seventh must be refused");
        };
        assert_eq!(retry_after_ms, 10_001);
        wakes.take_trigger("w", "b", 6, at(1_000)).unwrap();
        wakes.take_trigger("w", "a", 6, at(11_001)).unwrap();
    }
}
