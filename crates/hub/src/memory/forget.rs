//! Forgetting a memory.

use protocol::{MemoryId, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recall;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Forget a memory for good. Whoever remembered it may do so, and operators and orchestrators.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// The memory.
    memory_id: String,
}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForgetOutput {
    /// The memory that is gone.
    memory_id: MemoryId,
}

impl Operation for Forget {
    const NAME: &'static str = "forget";
    const ROUTE: Route = Route::delete("/v1/memories/{memory_id}");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = super::TOOLSET;
    type Output = ForgetOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.memory_id)
    }

    async fn run(self, call: &Call) -> Result<ForgetOutput> {
        let not_found = || Error::NotFound { what: "memory" };
        let id: MemoryId = self.memory_id.parse().map_err(|_| not_found())?;
        let (caller, now) = (call.shared_caller(), call.now());
        let output = call
            .write(move |tx| {
                let memory = tx.memory(&caller.workspace_id, id)?.ok_or_else(not_found)?;
                if !recall::may_see(tx, &caller, &memory)? {
                    return Err(not_found());
                }
                if memory.agent != caller.agent_id && !caller.role.has_authority() {
                    return Err(Error::InsufficientAuthority(format!(
                        "only {} or somebody with authority may forget this memory; ask an operator",
                        memory.agent
                    )));
                }
                tx.delete_memory(memory.row, now)?;
                Ok(Change::of(id.to_string(), ForgetOutput { memory_id: id }))
            })
            .await?;
        call.hub.memory.ring();
        Ok(output)
    }

    fn brief(output: &ForgetOutput) -> String {
        format!("{} is forgotten", output.memory_id)
    }
}
