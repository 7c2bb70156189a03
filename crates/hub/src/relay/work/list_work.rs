//! Listing work.

use protocol::relay::WorkState;
use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::WorkFilter;

use super::life;
use super::view::WorkView;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;
use crate::relay::TOOLSET;
use crate::threads::rules;

/// List work for agents, the newest first: what is ready, who has what until when, what is parked and
/// what was given up, with the reason.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWork {
    /// Only this work.
    work_id: Option<String>,
    /// Only work of this queue.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    queue: Option<String>,
    /// Only work about this thread.
    thread_id: Option<String>,
    /// Only work that has come so far.
    state: Option<WorkState>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListWorkOutput {
    /// The work.
    work: Vec<WorkView>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListWork {
    const NAME: &'static str = "list_work";
    const ROUTE: Route = Route::get("/v1/work");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ListWorkOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.work_id.as_deref().or(self.thread_id.as_deref()))
    }

    async fn run(self, call: &Call) -> Result<ListWorkOutput> {
        let caller = call.shared_caller();
        let queue = self.queue.unwrap_or_default();
        if !queue.is_empty() {
            validate::name(&queue).field("queue")?;
        }
        let limit = page::size(self.limit)?;
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let before = page::begin(self.cursor.as_deref())?;
        let only = self.work_id.as_deref().map(life::work_id).transpose()?;
        let filter = WorkFilter {
            workspace: caller.workspace_id.clone(),
            queue,
            thread_row: None,
            state: self.state,
            before,
            limit: limit + 1,
        };
        call.read(move |tx| {
            if let Some(id) = only {
                let row = tx.work(id)?.filter(|row| row.workspace == caller.workspace_id);
                let row = row.ok_or(Error::NotFound { what: "work" })?;
                return Ok(ListWorkOutput { work: vec![WorkView::of(row)], next_cursor: None });
            }
            let mut filter = filter.clone();
            if let Some(thread) = thread {
                filter.thread_row = Some(rules::enter(tx, thread, &caller, "read")?.row);
            }
            let mut rows = tx.list_work(&filter)?;
            let next_cursor = page::cut(&mut rows, limit, |row| row.row);
            let work = rows.into_iter().map(WorkView::of).collect();
            Ok(ListWorkOutput { work, next_cursor })
        })
        .await
    }

    fn brief(output: &ListWorkOutput) -> String {
        if output.work.is_empty() {
            return "no work".to_owned();
        }
        output.work.iter().fold(String::new(), |mut text, work| {
            use std::fmt::Write as _;
            let reason = work.reason.as_deref().unwrap_or_default();
            let WorkView { work_id, queue, state, thread_id, .. } = work;
            writeln!(text, "{work_id} {queue} {state} {thread_id} {reason}")
                .expect("a string takes everything");
            text
        })
    }
}
