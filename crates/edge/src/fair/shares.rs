//! What each caller holds of the listener, counted by agent.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{Caller, limits};

/// How much of the listener one agent may hold.
#[derive(Clone, Copy, Debug)]
pub struct Fairness {
    /// Connections.
    pub connections_per_agent_max: usize,
    /// Event streams.
    pub streams_per_agent_max: usize,
}

impl Default for Fairness {
    fn default() -> Self {
        Self {
            connections_per_agent_max: limits::CONNECTIONS_PER_AGENT_MAX,
            streams_per_agent_max: limits::STREAMS_PER_AGENT_MAX,
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Connection,
    Stream,
}

type Key = (Kind, String, String);

/// What every agent holds.
#[derive(Default)]
pub(crate) struct Shares {
    fairness: Fairness,
    held: Arc<Mutex<HashMap<Key, usize>>>,
}

/// One connection or stream of an agent, for as long as it lives.
pub(crate) struct Share {
    held: Arc<Mutex<HashMap<Key, usize>>>,
    key: Key,
}

impl Shares {
    pub(crate) fn new(fairness: Fairness) -> Self {
        Self { fairness, held: Arc::default() }
    }

    /// How many of a kind one agent may hold.
    pub(crate) fn most(&self, kind: Kind) -> usize {
        match kind {
            Kind::Connection => self.fairness.connections_per_agent_max,
            Kind::Stream => self.fairness.streams_per_agent_max,
        }
    }

    /// Counts one more for a caller; `None` when it holds as many as it may.
    pub(crate) fn take(&self, kind: Kind, caller: &Caller) -> Option<Share> {
        let key = (kind, caller.workspace_id.clone(), caller.agent_id.clone());
        let mut held = self.held.lock();
        let count = held.entry(key.clone()).or_insert(0);
        if *count >= self.most(kind) {
            return None;
        }
        *count += 1;
        Some(Share { held: Arc::clone(&self.held), key })
    }
}

impl Share {
    fn is_of(&self, caller: &Caller) -> bool {
        self.key.1 == caller.workspace_id && self.key.2 == caller.agent_id
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        if let Some(count) = held.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.key);
            }
        }
    }
}

/// Whom a connection counts for: the caller of its newest request, nobody before the first.
#[derive(Default)]
pub(crate) struct Holder(Mutex<Option<Share>>);

impl Holder {
    /// Counts the connection for a caller; `false` when that caller holds as many as it may.
    pub(crate) fn count_for(&self, caller: &Caller, shares: &Shares) -> bool {
        let mut current = self.0.lock();
        if current.as_ref().is_some_and(|share| share.is_of(caller)) {
            return true;
        }
        let Some(share) = shares.take(Kind::Connection, caller) else { return false };
        *current = Some(share);
        true
    }
}
