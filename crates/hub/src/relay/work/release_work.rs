//! Giving work back.

use protocol::limits::{self as all_limits, relay as limits};
use protocol::relay::WorkState;
use protocol::{Scope, WorkId, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::life;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::{TOOLSET, hooks};

/// Give work back that you cannot finish, and say why. It is given out again, at once or after a while;
/// later work of the same thread waits for it. Work that was given out 5 times is given up, and
/// `list_work` shows it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseWork {
    /// The work.
    work_id: String,
    /// The fence you were given with it.
    fence: i64,
    /// Why.
    #[schemars(length(min = 1, max = all_limits::REASON_CHARS_MAX))]
    reason: String,
    /// Nobody gets it for so long, in milliseconds.
    #[schemars(range(min = 0, max = limits::WORK_DELAY_MS_MAX))]
    delay_ms: Option<i64>,
}

/// What became of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReleaseWorkOutput {
    /// The work.
    work_id: WorkId,
    /// `ready`, or `dead` when it was given out too often.
    state: WorkState,
    /// How often it was given out.
    attempts: i64,
    #[serde(skip)]
    queue: String,
}

impl Operation for ReleaseWork {
    const NAME: &'static str = "release_work";
    const ROUTE: Route = Route::post("/v1/work/{work_id}/release");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ReleaseWorkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.work_id)
    }

    async fn run(self, call: &Call) -> Result<ReleaseWorkOutput> {
        validate::line(&self.reason, all_limits::REASON_CHARS_MAX).field("reason")?;
        let delay_ms = self.delay_ms.unwrap_or(0);
        if !(0..=limits::WORK_DELAY_MS_MAX).contains(&delay_ms) {
            let reason = format_args!("must be from 0 to {}", limits::WORK_DELAY_MS_MAX);
            return Err(Error::invalid("delay_ms", reason));
        }
        let (id, now) = (life::work_id(&self.work_id)?, call.now());
        let (caller, fence, reason) = (call.shared_caller(), self.fence, self.reason);
        let output = call
            .write(move |tx| {
                let mut work = life::lock(tx, id, &caller)?;
                life::check_lease(&work, fence, &caller)?;
                life::give_back(tx, &mut work, &reason, now.plus_ms(delay_ms), now)?;
                let (state, attempts) = (work.state, work.attempts);
                let (work_id, queue) = (work.id, work.queue);
                let output = ReleaseWorkOutput { work_id, state, attempts, queue };
                Ok(Change::of(work_id.to_string(), output))
            })
            .await?;
        if output.state == WorkState::Dead {
            super::count_dead(&call.hub.metrics, std::slice::from_ref(&output.queue));
        }
        hooks::work_arrived(&call.hub.live, &call.caller().workspace_id);
        Ok(output)
    }

    fn brief(output: &ReleaseWorkOutput) -> String {
        format!("{} is {}", output.work_id, output.state)
    }
}
