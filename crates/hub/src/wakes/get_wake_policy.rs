//! Seeing who is woken when.

use protocol::wake::WakePolicy;
use protocol::{Scope, ThreadId, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::standing::{PolicyOrigin, Standing};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

/// Show when posts wake an agent: the policy that holds for it, or for it in one thread.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetWakePolicy {
    /// The agent.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    agent_id: String,
    /// What holds in this thread.
    thread_id: Option<String>,
}

/// The policy that holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WakePolicyOutput {
    /// The agent.
    pub(super) agent_id: String,
    /// The thread it holds in; in all others where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thread_id: Option<ThreadId>,
    /// The policy.
    pub(super) policy: WakePolicy,
    /// Where it comes from.
    pub(super) origin: PolicyOrigin,
    /// When it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<Timestamp>,
}

impl WakePolicyOutput {
    pub(super) fn of(agent_id: &str, thread_id: Option<ThreadId>, standing: Standing) -> Self {
        Self {
            agent_id: agent_id.to_owned(),
            thread_id,
            policy: standing.policy,
            origin: standing.origin,
            updated_at: standing.updated,
        }
    }

    pub(super) fn brief(&self) -> String {
        let policy = &self.policy;
        if !policy.enabled {
            return format!("posts do not wake {}", self.agent_id);
        }
        let on: Vec<&str> = policy.on.iter().map(|on| on.name()).collect();
        let quiet = policy.quiet_hours.as_ref().map_or_else(String::new, |hours| {
            format!(", not from {} to {} {}", hours.from, hours.to, hours.zone)
        });
        format!(
            "posts wake {} on {}, at most {} times an hour{quiet}",
            self.agent_id,
            if on.is_empty() { "nothing".to_owned() } else { on.join(", ") },
            policy.per_hour_max,
        )
    }
}

impl Operation for GetWakePolicy {
    const NAME: &'static str = "get_wake_policy";
    const ROUTE: Route = Route::get("/v1/agents/{agent_id}/wake-policy");
    const SCOPE: Scope = Scope::SessionsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = WakePolicyOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.agent_id)
    }

    async fn run(self, call: &Call) -> Result<WakePolicyOutput> {
        validate::name(&self.agent_id).field("agent_id")?;
        let id = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let (caller, base) = (call.shared_caller(), call.hub.settings.wake.policy());
        call.read(move |tx| {
            let thread = id.map(|id| rules::enter(tx, id, &caller, "read")).transpose()?;
            let row = thread.map(|thread| thread.row);
            let standing = Standing::find(tx, &base, (&caller.workspace_id, &self.agent_id), row)?;
            Ok(WakePolicyOutput::of(&self.agent_id, id, standing))
        })
        .await
    }

    fn brief(output: &WakePolicyOutput) -> String {
        output.brief()
    }
}
