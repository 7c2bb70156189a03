//! Listing what is on its way to services.

use protocol::relay::OutboxState;
use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::OutboxFilter;

use super::view::OutboxView;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List actions on their way to services, the newest first: what waits, what is being sent, what was sent
/// and what was given up, with the reason and what the service said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOutbox {
    /// Only this action.
    outbox_id: Option<String>,
    /// Only actions that have come so far.
    state: Option<OutboxState>,
    /// Only actions through this link.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    link: Option<String>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of actions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListOutboxOutput {
    /// The actions.
    actions: Vec<OutboxView>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListOutbox {
    const NAME: &'static str = "list_outbox";
    const ROUTE: Route = Route::get("/v1/outbox");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ListOutboxOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.outbox_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<ListOutboxOutput> {
        let workspace = call.caller().workspace_id.clone();
        let limit = page::size(self.limit)?;
        let only = self.outbox_id.as_deref().map(super::outbox_id).transpose()?;
        let before = page::begin(self.cursor.as_deref())?;
        let (state, link) = (self.state, self.link);
        if let Some(link) = &link {
            validate::name(link).field("link")?;
        }
        call.read(move |tx| {
            if let Some(id) = only {
                let row = tx.outbox(id)?.filter(|row| row.workspace == workspace);
                let row = row.ok_or(Error::NotFound { what: "action" })?;
                let actions = vec![OutboxView::of(tx, &row)?];
                return Ok(ListOutboxOutput { actions, next_cursor: None });
            }
            let link_row = match &link {
                Some(name) => Some(tx.link(&workspace, name)?.map_or(0, |link| link.row)),
                None => None,
            };
            let workspace = workspace.clone();
            let filter = OutboxFilter { workspace, state, link_row, before, limit: limit + 1 };
            let mut rows = tx.list_outbox(&filter)?;
            let next_cursor = page::cut(&mut rows, limit, |row| row.row);
            let mut actions = Vec::with_capacity(rows.len());
            for row in &rows {
                actions.push(OutboxView::of(tx, row)?);
            }
            Ok(ListOutboxOutput { actions, next_cursor })
        })
        .await
    }

    fn brief(output: &ListOutboxOutput) -> String {
        output.actions.iter().fold(String::new(), |mut text, action| {
            use std::fmt::Write as _;
            let reason = action.reason.as_deref().unwrap_or_default();
            let (id, state, place) = (action.outbox_id, action.state, &action.action.place);
            writeln!(text, "{id} {state} {place} {reason}").expect("a string takes everything");
            text
        })
    }
}
