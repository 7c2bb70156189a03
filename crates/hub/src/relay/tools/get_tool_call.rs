//! How far a call of a tool has come.

use protocol::Scope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::view::{self, ToolCallView};
use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;

/// How far a call of a tool has come, and what it answered. The answer also stands in the thread, as a
/// `tool` message: `wait_for_messages` tells you when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetToolCall {
    /// The call: `call_…`, the message that asked for it, or with `thread_id` the id you gave it.
    call_id: String,
    /// The thread, when you name the call by your own id.
    thread_id: Option<String>,
}

impl Operation for GetToolCall {
    const NAME: &'static str = "get_tool_call";
    const ROUTE: Route = Route::get("/v1/tool-calls/{call_id}");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ToolCallView;

    fn object(&self) -> Object<'_> {
        Object::named(&self.call_id)
    }

    async fn run(self, call: &Call) -> Result<ToolCallView> {
        let caller = call.shared_caller();
        call.read(move |tx| {
            let named = (self.call_id.as_str(), self.thread_id.as_deref());
            let (_, found) = view::find(tx, &caller, named)?;
            Ok(ToolCallView::of(&found))
        })
        .await
    }

    fn brief(output: &ToolCallView) -> String {
        output.brief()
    }
}
