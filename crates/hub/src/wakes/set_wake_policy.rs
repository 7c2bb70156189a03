//! Setting who is woken when.

use protocol::wake::WakePolicy;
use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use store::{Tx, WakePolicyRow};

use super::get_wake_policy::WakePolicyOutput;
use super::policy;
use super::standing::Standing;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

/// Set when posts wake an agent, everywhere or in one thread. What is left out stays as the hub has it
/// for everybody, or, in a thread, as the agent has it. An agent may choose to be woken less than now;
/// anything else takes the scope `admin`. Without a `policy` what was set is forgotten.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetWakePolicy {
    /// The agent.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    agent_id: String,
    /// For this thread alone.
    thread_id: Option<String>,
    /// What wakes it: `{"on": ["mention"], "quiet_hours": {"from": "22:00", "to": "07:00", "zone":
    /// "Europe/Berlin"}}`.
    #[schemars(with = "Option<WakePolicy>")]
    policy: Option<Map<String, Value>>,
}

impl Operation for SetWakePolicy {
    const NAME: &'static str = "set_wake_policy";
    const ROUTE: Route = Route::put("/v1/agents/{agent_id}/wake-policy");
    const SCOPE: Scope = Scope::Admin;
    const OTHER_SCOPE: Option<Scope> = Some(Scope::SessionsWrite);
    const EFFECT: Effect = Effect::Set;
    const TOOLSET: &'static str = "admin";
    type Output = WakePolicyOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.agent_id)
    }

    async fn run(self, call: &Call) -> Result<WakePolicyOutput> {
        validate::name(&self.agent_id).field("agent_id")?;
        let caller = call.shared_caller();
        let is_admin = caller.scopes.has(Scope::Admin);
        if !is_admin && self.agent_id != caller.agent_id {
            return Err(Error::MissingScope { scope: Scope::Admin });
        }
        let id = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let (base, now) = (call.hub.settings.wake.policy(), call.now());
        call.write(move |tx| {
            let thread = id.map(|id| rules::enter(tx, id, &caller, "change")).transpose()?;
            let row = thread.map(|thread| thread.row);
            let who = (caller.workspace_id.as_str(), self.agent_id.as_str());
            let before = Standing::find(tx, &base, who, row)?;
            let changed = self.store(tx, who, row, now)?;
            let after = Standing::find(tx, &base, who, row)?;
            if !is_admin && !policy::is_narrower(&after.policy, &before.policy) {
                return Err(Error::InsufficientAuthority(
                    "an agent may only choose to be woken less; ask the operator for more"
                        .to_owned(),
                ));
            }
            let output = WakePolicyOutput::of(who.1, id, after);
            if !changed {
                return Ok(Change::none(output));
            }
            let detail = serde_json::json!({ "thread_id": id, "policy": self.policy });
            Ok(Change::of(self.agent_id.clone(), output).with_detail(detail.to_string()))
        })
        .await
    }

    fn brief(output: &WakePolicyOutput) -> String {
        output.brief()
    }
}

impl SetWakePolicy {
    /// Writes what was set, or forgets it; answers whether that changes anything.
    fn store(
        &self,
        tx: &mut Tx<'_>,
        (workspace, agent): (&str, &str),
        thread_row: Option<i64>,
        updated: protocol::Timestamp,
    ) -> Result<bool> {
        let Some(set) = &self.policy else {
            return Ok(tx.remove_wake_policy(workspace, agent, thread_row)?);
        };
        // Whatever it will lie over: what is wrong in it is wrong by itself.
        policy::overlaid(&WakePolicy::default(), set)?;
        let policy = Value::Object(set.clone()).to_string();
        let stands = tx.wake_policies(workspace, agent, thread_row)?;
        if stands.iter().any(|row| row.thread_row == thread_row && row.policy == policy) {
            return Ok(false);
        }
        tx.set_wake_policy(workspace, agent, &WakePolicyRow { thread_row, policy, updated })?;
        Ok(true)
    }
}
