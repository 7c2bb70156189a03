//! Keeping work for longer.

use protocol::limits::relay as limits;
use protocol::{Scope, Timestamp, WorkId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{life, pull_work};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;

/// Keep work that you pulled for longer: its lease ends so long from now. Do this well before it ends;
/// once it has ended the work is given out again, and this answers CONFLICT.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtendWork {
    /// The work.
    work_id: String,
    /// The fence you were given with it.
    fence: i64,
    /// For how long in milliseconds, 60000 unless you say otherwise, at most 900000.
    #[schemars(range(min = limits::WORK_LEASE_MS_MIN, max = limits::WORK_LEASE_MS_MAX))]
    lease_ms: Option<i64>,
}

/// The lease as it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExtendWorkOutput {
    /// The work.
    work_id: WorkId,
    /// Until when it is yours.
    lease_until: Timestamp,
}

impl Operation for ExtendWork {
    const NAME: &'static str = "extend_work";
    const ROUTE: Route = Route::post("/v1/work/{work_id}/lease");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Set;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ExtendWorkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.work_id)
    }

    async fn run(self, call: &Call) -> Result<ExtendWorkOutput> {
        let lease_ms = pull_work::lease_ms(self.lease_ms)?;
        let (id, now) = (life::work_id(&self.work_id)?, call.now());
        let (caller, fence) = (call.shared_caller(), self.fence);
        call.write(move |tx| {
            let mut work = life::lock(tx, id, &caller)?;
            life::check_lease(&work, fence, &caller)?;
            let lease_until = now.plus_ms(lease_ms);
            work.lease = Some(lease_until);
            tx.update_work(&work)?;
            let output = ExtendWorkOutput { work_id: work.id, lease_until };
            Ok(Change::of(work.id.to_string(), output))
        })
        .await
    }

    fn brief(output: &ExtendWorkOutput) -> String {
        format!("{} is yours until {}", output.work_id, output.lease_until)
    }
}
