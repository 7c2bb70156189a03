//! The policy that holds for an agent: the hub's, under what was set for the agent, under what was set
//! for it in one thread, field by field.

use protocol::Timestamp;
use protocol::wake::WakePolicy;
use schemars::JsonSchema;
use serde::Serialize;
use store::Tx;

use super::policy::{self, Due};
use crate::error::Result;

/// Where a policy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyOrigin {
    /// Nobody has set one.
    Hub,
    /// It was set for the agent.
    Agent,
    /// It was set for the agent in this thread.
    Thread,
}

/// The policy that holds for an agent.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// The policy.
    pub(crate) policy: WakePolicy,
    /// Where the last word of it comes from.
    pub(crate) origin: PolicyOrigin,
    /// When that was.
    pub(crate) updated: Option<Timestamp>,
}

impl Standing {
    /// Finds it.
    pub(crate) fn find(
        tx: &mut Tx<'_>,
        base: &WakePolicy,
        (workspace, agent): (&str, &str),
        thread_row: Option<i64>,
    ) -> Result<Self> {
        let mut standing = Self { policy: base.clone(), origin: PolicyOrigin::Hub, updated: None };
        for row in tx.wake_policies(workspace, agent, thread_row)? {
            // What another version wrote and this one cannot read does not hold.
            let Ok(set) = serde_json::from_str(&row.policy) else { continue };
            let Ok(policy) = policy::overlaid(&standing.policy, &set) else { continue };
            let is_thread = row.thread_row.is_some();
            standing = Self {
                policy,
                origin: if is_thread { PolicyOrigin::Thread } else { PolicyOrigin::Agent },
                updated: Some(row.updated),
            };
        }
        Ok(standing)
    }

    /// When a wake of the agent is due, by its budget and its quiet hours.
    pub(crate) fn due(
        &self,
        tx: &mut Tx<'_>,
        (workspace, agent): (&str, &str),
        now: Timestamp,
    ) -> Result<Due> {
        let since = now.plus_ms(-policy::HOUR_MS);
        let newest = tx.wakes_due_since(workspace, agent, since, self.policy.per_hour_max)?;
        Ok(policy::due(&self.policy, now, &newest))
    }
}
