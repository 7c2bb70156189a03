//! Moving a thread.

use protocol::thread::Transition;
use protocol::{Scope, ThreadId, ThreadStatus, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{self, Move};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::wakes::life;

/// Change a thread's status. A worker may not end a thread that is blocked or has open or rejected
/// findings, nor lift a block of others; an operator or orchestrator may, with a `reason` that is
/// audited.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateThreadStatus {
    /// The thread.
    thread_id: String,
    /// The new status.
    status: ThreadStatus,
    /// Why.
    #[schemars(length(max = limits::REASON_CHARS_MAX))]
    reason: Option<String>,
    /// Facts about the change, audited.
    metadata: Option<protocol::Metadata>,
    /// Optional: must match your token.
    agent_id: Option<String>,
}

/// Where the thread stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UpdateThreadStatusOutput {
    /// The thread.
    thread_id: ThreadId,
    /// Its status.
    status: ThreadStatus,
    /// When it changed.
    updated_at: Timestamp,
    #[serde(skip)]
    thread_row: i64,
    /// Whose wakes ended with it.
    #[serde(skip)]
    let_sleep: Vec<String>,
}

impl Operation for UpdateThreadStatus {
    const NAME: &'static str = "update_thread_status";
    const ROUTE: Route = Route::put("/v1/threads/{thread_id}/status");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    type Output = UpdateThreadStatusOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<UpdateThreadStatusOutput> {
        rules::claim("agent_id", self.agent_id.as_deref(), &call.caller().agent_id)?;
        let id = rules::thread_id(&self.thread_id)?;
        let reason = self.reason.unwrap_or_default();
        if !reason.is_empty() {
            validate::line(&reason, limits::REASON_CHARS_MAX).field("reason")?;
        }
        let metadata = self.metadata.as_ref().map(protocol::Metadata::to_text);
        if let (Some(value), Some(text)) = (&self.metadata, &metadata) {
            value.check(text).field("metadata")?;
        }
        let (caller, to, now) = (call.shared_caller(), self.status, call.now());
        rules::warm_fold(call, id, "change").await?;
        let output = call
            .write(move |tx| {
                let mut thread = rules::lock(tx, id, &caller, "change")?;
                let step = Move { to, reason: &reason, by: &caller, at: now };
                let kind = rules::check_move(tx, &thread, step)?;
                rules::require_reason(kind, step, ("reason", "is missing"))?;
                let unpauses = thread.paused.is_some()
                    && to == ThreadStatus::Active
                    && caller.role.has_authority();
                let is_shared = rules::share_block(tx, &mut thread, step)?;
                if kind != Transition::Unchanged {
                    rules::apply_move(tx, &mut thread, step, kind)?;
                }
                if unpauses {
                    rules::continue_thread(tx, &mut thread, step)?;
                }
                let let_sleep = if kind != Transition::Unchanged && to == ThreadStatus::Closed {
                    life::cancel_about(tx, thread.row, None, "the thread was closed", now)?
                } else {
                    Vec::new()
                };
                let output = UpdateThreadStatusOutput {
                    thread_id: id,
                    status: to,
                    updated_at: thread.updated,
                    thread_row: thread.row,
                    let_sleep,
                };
                if kind == Transition::Unchanged && !unpauses && !is_shared {
                    return Ok(Change::none(output));
                }
                tx.update_thread(&thread)?;
                let detail = rules::move_detail(step, kind, metadata.as_deref());
                Ok(Change::of(id.to_string(), output).with_detail(detail))
            })
            .await?;
        call.hub.live.announce(output.thread_row);
        for agent in &output.let_sleep {
            call.hub.wakes.ring(&call.caller().workspace_id, agent);
        }
        Ok(output)
    }

    fn brief(output: &UpdateThreadStatusOutput) -> String {
        format!("{} is {}", output.thread_id, output.status)
    }
}
