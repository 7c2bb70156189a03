//! Taking a wake back.

use protocol::{Scope, Timestamp, WakeId, WakeState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::life;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

/// Take a wake back that you asked for; an operator or orchestrator may take back any. What an agent
/// was told already stays told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelWake {
    /// The wake.
    wake_id: String,
}

/// The wake has ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CancelWakeOutput {
    /// The wake.
    wake_id: WakeId,
    /// `cancelled`.
    state: WakeState,
    /// When it ended.
    ended_at: Timestamp,
    #[serde(skip)]
    agent: String,
}

impl Operation for CancelWake {
    const NAME: &'static str = "cancel_wake";
    const ROUTE: Route = Route::delete("/v1/wakes/{wake_id}");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    // Few models have a need of it, and their list of tools is short; those who do ask for the set.
    const TOOLSET: &'static str = "wakes";
    type Output = CancelWakeOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.wake_id)
    }

    async fn run(self, call: &Call) -> Result<CancelWakeOutput> {
        const MISSING: Error = Error::NotFound { what: "wake" };
        let id: WakeId = self.wake_id.parse().map_err(|_| MISSING)?;
        let (caller, now) = (call.shared_caller(), call.now());
        let output = call
            .write(move |tx| {
                let mut wake = tx
                    .lock_wake(id)?
                    .filter(|wake| wake.workspace == caller.workspace_id)
                    .ok_or(MISSING)?;
                rules::enter(tx, wake.thread_id, &caller, "change")?;
                let may = caller.role.has_authority() || wake.asked_by == caller.agent_id;
                if !may {
                    return Err(Error::InsufficientAuthority(
                        "only who asked for a wake, an operator or an orchestrator may cancel it"
                            .to_owned(),
                    ));
                }
                let output = |ended_at| CancelWakeOutput {
                    wake_id: id,
                    state: WakeState::Cancelled,
                    ended_at,
                    agent: wake.agent.clone(),
                };
                if wake.state == WakeState::Cancelled {
                    return Ok(Change::none(output(wake.ended.unwrap_or(now))));
                }
                if !wake.state.is_open() {
                    return Err(Error::Conflict(format!(
                        "the wake has ended: it is {}",
                        wake.state
                    )));
                }
                let output = output(now);
                let why = format!("cancelled by {}", caller.agent_id);
                life::end(&mut wake, WakeState::Cancelled, Some(&why), now);
                tx.update_wake(&wake)?;
                Ok(Change::of(id.to_string(), output))
            })
            .await?;
        call.hub.wakes.ring(&call.caller().workspace_id, &output.agent);
        Ok(output)
    }

    fn brief(output: &CancelWakeOutput) -> String {
        format!("{} is cancelled", output.wake_id)
    }
}
