//! Listing what a service said.

use protocol::relay::DeliveryOutcome;
use protocol::{Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::DeliveryFilter;

use super::view::{self, DeliveryView};
use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List what a service said through a link, the newest first, and what became of each: work, a note, or
/// nothing. What came again is counted, not listed twice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDeliveries {
    /// The link.
    name: String,
    /// Only those of which this became.
    outcome: Option<DeliveryOutcome>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of deliveries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDeliveriesOutput {
    /// The deliveries.
    deliveries: Vec<DeliveryView>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListDeliveries {
    const NAME: &'static str = "list_deliveries";
    const ROUTE: Route = Route::get("/v1/links/{name}/deliveries");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ListDeliveriesOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.name)
    }

    async fn run(self, call: &Call) -> Result<ListDeliveriesOutput> {
        let caller = call.shared_caller();
        let limit = page::size(self.limit)?;
        let before = page::begin(self.cursor.as_deref())?;
        let (name, outcome) = (self.name, self.outcome);
        call.read(move |tx| {
            let link = view::link(tx, &caller.workspace_id, &name)?;
            let (link_row, limit_more) = (link.row, limit + 1);
            let filter = DeliveryFilter { link_row, outcome, before, limit: limit_more };
            let mut rows = tx.deliveries(&filter)?;
            let next_cursor = page::cut(&mut rows, limit, |row| row.row);
            let deliveries = rows.into_iter().map(DeliveryView::of).collect();
            Ok(ListDeliveriesOutput { deliveries, next_cursor })
        })
        .await
    }

    fn brief(output: &ListDeliveriesOutput) -> String {
        if output.deliveries.is_empty() {
            return "no deliveries; waystation link test NAME sends one through the whole way"
                .to_owned();
        }
        output.deliveries.iter().map(DeliveryView::brief).collect::<Vec<_>>().join("\n")
    }
}
