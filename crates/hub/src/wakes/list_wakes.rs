//! Listing wakes.

use protocol::{Scope, WakeState, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::WakeFilter;

use super::view::WakeView;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;
use crate::threads::rules;

/// List attempts to wake agents in the threads you may see, the newest first, and how far each came.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWakes {
    /// Only wakes about this thread.
    thread_id: Option<String>,
    /// Only wakes of this agent.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    agent_id: Option<String>,
    /// Only wakes that have come so far.
    state: Option<WakeState>,
    /// Only wakes that have not ended.
    open_only: Option<bool>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of wakes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListWakesOutput {
    /// The wakes.
    wakes: Vec<WakeView>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListWakes {
    const NAME: &'static str = "list_wakes";
    const ROUTE: Route = Route::get("/v1/wakes");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    // Few models have a need of it, and their list of tools is short; those who do ask for the set.
    const TOOLSET: &'static str = "wakes";
    type Output = ListWakesOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.thread_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<ListWakesOutput> {
        let caller = call.shared_caller();
        let agent = self.agent_id.unwrap_or_default();
        if !agent.is_empty() {
            validate::name(&agent).field("agent_id")?;
        }
        let limit = page::size(self.limit)?;
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let before = page::begin(self.cursor.as_deref())?;
        let is_member_only = thread.is_none() && !caller.role.has_authority();
        let filter = WakeFilter {
            workspace: caller.workspace_id.clone(),
            member: if is_member_only { caller.agent_id.clone() } else { String::new() },
            agent,
            thread_row: None,
            state: self.state,
            open_only: self.open_only.unwrap_or(false),
            before,
            limit: limit + 1,
        };
        call.read(move |tx| {
            let mut filter = filter.clone();
            if let Some(thread) = thread {
                filter.thread_row = Some(rules::enter(tx, thread, &caller, "read")?.row);
            }
            let mut rows = tx.wakes(&filter)?;
            let next_cursor = page::cut(&mut rows, limit, |row| row.row);
            let wakes = rows.into_iter().map(WakeView::of).collect();
            Ok(ListWakesOutput { wakes, next_cursor })
        })
        .await
    }

    fn brief(output: &ListWakesOutput) -> String {
        if output.wakes.is_empty() {
            return "no wakes".to_owned();
        }
        output.wakes.iter().map(WakeView::brief).collect::<Vec<_>>().join("\n")
    }
}
