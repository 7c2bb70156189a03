//! Stopping a call of a tool.

use std::collections::VecDeque;

use protocol::limits::tools as limits;
use protocol::relay::ToolCallState;
use protocol::{Caller, Scope, Timestamp, ToolCallId, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{ThreadRow, ToolCallRow, Tx};

use super::outcome::Failure;
use super::view::{self, ToolCallView};
use super::{caller, speak};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;
use crate::threads::rules;

/// Stop a call of a tool that you asked for, and the calls that came from it; an operator or
/// orchestrator may stop any. What a tool has done already stays done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelToolCall {
    /// The call: `call_…`, the message that asked for it, or with `thread_id` the id you gave it.
    call_id: String,
    /// The thread, when you name the call by your own id.
    thread_id: Option<String>,
}

/// The call as it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CancelToolCallOutput {
    #[serde(flatten)]
    call: ToolCallView,
    #[serde(skip)]
    thread_row: i64,
    #[serde(skip)]
    stopped: Vec<ToolCallId>,
}

impl Operation for CancelToolCall {
    const NAME: &'static str = "cancel_tool_call";
    const ROUTE: Route = Route::delete("/v1/tool-calls/{call_id}");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = CancelToolCallOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.call_id)
    }

    async fn run(self, call: &Call) -> Result<CancelToolCallOutput> {
        let (by, now) = (call.shared_caller(), call.now());
        let output = call.write(move |tx| self.cancel(tx, &by, now)).await?;
        for id in &output.stopped {
            call.hub.tools.stop(*id);
        }
        call.hub.live.announce(output.thread_row);
        Ok(output)
    }

    fn brief(output: &CancelToolCallOutput) -> String {
        output.call.brief()
    }
}

impl CancelToolCall {
    fn cancel(
        &self,
        tx: &mut Tx<'_>,
        by: &Caller,
        now: Timestamp,
    ) -> Result<Change<CancelToolCallOutput>> {
        let named = (self.call_id.as_str(), self.thread_id.as_deref());
        let (thread, found) = view::find(tx, by, named)?;
        let is_own = caller::from_text(&found.caller).is_some_and(|of| of.agent_id == by.agent_id);
        if !is_own && !by.role.has_authority() {
            return Err(Error::InsufficientAuthority(
                "only who asked for a call may stop it, or an operator or orchestrator".to_owned(),
            ));
        }
        let mut thread = rules::lock(tx, thread.id, by, "stop a call in")?;
        let fresh = tx.lock_tool_call(found.id)?.ok_or(Error::NotFound { what: "tool call" })?;
        if !is_open(&fresh) {
            let output = output(&fresh, Vec::new());
            return match fresh.state {
                ToolCallState::Cancelled => Ok(Change::none(output)),
                state => Err(Error::Conflict(format!("the call has ended: it is {state}"))),
            };
        }
        let (ended, stopped) = stop_all(tx, &mut thread, fresh, now)?;
        Ok(Change::of(ended.id.to_string(), output(&ended, stopped)))
    }
}

fn output(call: &ToolCallRow, stopped: Vec<ToolCallId>) -> CancelToolCallOutput {
    CancelToolCallOutput { call: ToolCallView::of(call), thread_row: call.thread_row, stopped }
}

fn is_open(call: &ToolCallRow) -> bool {
    matches!(call.state, ToolCallState::Waiting | ToolCallState::Running)
}

/// Stops a call and whatever came from it; each gets its answer.
fn stop_all(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    first: ToolCallRow,
    now: Timestamp,
) -> Result<(ToolCallRow, Vec<ToolCallId>)> {
    let mut stopped = Vec::new();
    let mut ended = None;
    let mut rest = VecDeque::from([first]);
    while let Some(mut call) = rest.pop_front() {
        rest.extend(tx.lock_open_calls_below(call.row, limits::TOOL_CHILDREN_MAX)?);
        let failure = Failure::refused("CANCELLED", "the call was cancelled");
        let envelope = speak::failed(&call, &failure);
        let said = speak::say(tx, thread, &call, (&envelope, Trust::Hub), now)?;
        call.state = ToolCallState::Cancelled;
        call.answer_seq = Some(said.seq);
        call.result = Some(json!(failure.to_result()).to_string());
        call.ended = Some(now);
        call.lease = None;
        tx.update_tool_call(&call)?;
        stopped.push(call.id);
        ended.get_or_insert(call);
    }
    let ended = ended.ok_or(Error::NotFound { what: "tool call" })?;
    Ok((ended, stopped))
}
