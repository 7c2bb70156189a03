//! Remembering something.

use std::collections::BTreeMap;

use protocol::relay::{MemoryKind, MemoryUpdate};
use protocol::{MemoryId, Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::means::count_redactions;
use super::update::{self, Remembered};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::Result;
use crate::operation::{Effect, Operation, Quota, Route};
use crate::threads::rules;

/// Remember something: `episodic` for one thread, `long_term` for the whole workspace. Personal data and
/// secrets are taken out of what is long-term before it is kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// Where it is remembered.
    kind: MemoryKind,
    /// What is remembered, such as `{"text": "Deploys need two approvals"}`; at most 16 KB as JSON.
    data: Map<String, Value>,
    /// The thread of something episodic.
    thread_id: Option<String>,
    /// Seconds until it is forgotten; left out, it stays until somebody forgets it.
    #[schemars(range(min = 1))]
    ttl: Option<i64>,
    /// Whether it does not age.
    #[serde(default)]
    pinned: bool,
}

/// What was remembered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RememberOutput {
    /// The memory.
    memory_id: MemoryId,
    /// Where it is remembered.
    kind: MemoryKind,
    /// When it is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// How many values of each class were taken out of it.
    redactions: BTreeMap<String, u64>,
}

impl Operation for Remember {
    const NAME: &'static str = "remember";
    const ROUTE: Route = Route::post("/v1/memories");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Posts;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = super::TOOLSET;
    type Output = RememberOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.thread_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<RememberOutput> {
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let mut other = Map::new();
        if self.pinned {
            other.insert("pinned".to_owned(), true.into());
        }
        let update = MemoryUpdate { kind: self.kind, data: self.data, ttl: self.ttl, other };
        let redactor = call.hub.memory.redactor(&call.hub, &call.caller().workspace_id).await?;
        let prepared = update::prepare(&redactor, &update, call.now())?;
        let counts = prepared.counts;
        let (id, now, caller) = (MemoryId(call.new_uid()), call.now(), call.shared_caller());
        let output = call
            .write(move |tx| {
                let thread_row = match thread {
                    Some(id) => Some(rules::enter(tx, id, &caller, "read")?.row),
                    None => None,
                };
                let new = Remembered {
                    id,
                    workspace: &caller.workspace_id,
                    agent: &caller.agent_id,
                    thread_row,
                    update: &update,
                    now,
                };
                update::insert(tx, &new, &prepared)?;
                let output = RememberOutput {
                    memory_id: id,
                    kind: prepared.kind,
                    expires_at: prepared.expires,
                    redactions: prepared
                        .counts
                        .iter()
                        .map(|(class, count)| (class.name().to_owned(), count))
                        .collect(),
                };
                Ok(Change::of(id.to_string(), output))
            })
            .await?;
        count_redactions(&call.hub.metrics, &counts);
        call.hub.memory.ring();
        Ok(output)
    }

    fn brief(output: &RememberOutput) -> String {
        let taken: u64 = output.redactions.values().sum();
        let taken =
            if taken > 0 { format!("; {taken} values were taken out") } else { String::new() };
        format!("remembered as {}{taken}", output.memory_id)
    }
}
