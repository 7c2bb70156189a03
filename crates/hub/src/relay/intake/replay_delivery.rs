//! Reading again what a service said.

use std::sync::Arc;

use connector_api::{Inbound, Intent};
use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::route;
use super::view::TakenView;
use super::words;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Characters of a text that are shown of what a delivery says.
const TEXT_CHARS: usize = 500;

/// Read a delivery again, from the bytes that were kept, and say what it says and what would become of it
/// now. With `again` it is taken in as something new: a message, and work where it asks for some.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayDelivery {
    /// The delivery.
    delivery_id: String,
    /// Take it in once more, though it is known.
    #[serde(default)]
    again: bool,
}

/// What a delivery says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayDeliveryOutput {
    /// The delivery.
    delivery_id: DeliveryId,
    /// What it says, read now.
    says: Vec<Reading>,
    /// What became of it, where it was taken in again.
    taken: Vec<TakenView>,
}

/// One thing that a delivery says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reading {
    /// The service's name for what happened.
    event: String,
    /// What would become of it now.
    outcome: DeliveryOutcome,
    /// What it belongs to.
    thread_key: String,
    /// What that is called.
    title: String,
    /// Who did it.
    actor: String,
    /// The beginning of what was said.
    text: String,
}

impl Operation for ReplayDelivery {
    const NAME: &'static str = "replay_delivery";
    const ROUTE: Route = Route::post("/v1/deliveries/{delivery_id}/replay");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Write;
    const TOOLSET: &'static str = "admin";
    type Output = ReplayDeliveryOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.delivery_id)
    }

    async fn run(self, call: &Call) -> Result<ReplayDeliveryOutput> {
        const MISSING: Error = Error::NotFound { what: "delivery" };
        let id: DeliveryId = self.delivery_id.parse().map_err(|_| MISSING)?;
        let caller = call.shared_caller();
        let (link, raw) = call
            .read(move |tx| {
                let row = tx.delivery(id)?;
                let row = row.filter(|row| row.workspace == caller.workspace_id).ok_or(MISSING)?;
                let links = tx.links(&caller.workspace_id, protocol::limits::chats::LINKS_MAX)?;
                let link = links.into_iter().find(|link| link.row == row.link_row);
                let link = link.ok_or(Error::NotFound { what: "link" })?;
                let raw = tx.raw_delivery(row.row)?;
                Ok((link, raw))
            })
            .await?;
        let raw = raw.ok_or_else(|| {
            Error::Conflict(
                "the bytes of this delivery are not kept: it came over a stream, is private or our own, \
                 or is older than relay.keep_bodies_days"
                    .to_owned(),
            )
        })?;
        let (links, link) = (&call.hub.links, Arc::new(link));
        let inbound = links.read_again(&link, raw.clone())?;
        let routes = &call.hub.settings.relay.intake.routes;
        let says = inbound.iter().map(|one| reading(routes, &link.name, one)).collect();
        let mut taken = Vec::new();
        if self.again {
            let received = links.take_again(&link, inbound, raw, call.new_uid()).await?;
            taken = received.into_iter().map(TakenView::of).collect();
            enter(call, id, taken.len()).await?;
        }
        Ok(ReplayDeliveryOutput { delivery_id: id, says, taken })
    }

    fn brief(output: &ReplayDeliveryOutput) -> String {
        let says = output.says.iter().map(|one| {
            let Reading { event, outcome, thread_key, actor, text, .. } = one;
            format!("{event} by {actor} in {thread_key} would be {outcome}: {text}")
        });
        let taken = output.taken.iter().map(|one| format!("taken in: {}", one.brief()));
        let mut lines: Vec<String> = says.chain(taken).collect();
        if lines.is_empty() {
            lines.push("it says nothing that the relay carries".to_owned());
        }
        if output.taken.is_empty() {
            lines.push("nothing was taken in; again: true (--again) does that".to_owned());
        }
        lines.join("\n")
    }
}

/// Who replayed it stands in the trail, beside what the link did.
async fn enter(call: &Call, id: DeliveryId, taken: usize) -> Result<()> {
    let detail = serde_json::json!({ "taken": taken }).to_string();
    call.write(move |_| Ok(Change::of(id.to_string(), taken).with_detail(detail.clone()))).await?;
    Ok(())
}

fn reading(
    routes: &[crate::relay::settings::RelayRoute],
    link: &str,
    inbound: &Inbound,
) -> Reading {
    // What must not leave where it was said is not shown here either.
    let is_private = inbound.intent == Intent::Private;
    let shown = |text: String| if is_private { String::new() } else { text };
    Reading {
        event: words::name(&inbound.event),
        outcome: route::decide(routes, link, inbound).outcome(),
        thread_key: shown(words::name(&inbound.thread_key)),
        title: shown(words::title_of(inbound)),
        actor: words::name(&inbound.actor.name),
        text: shown(words::shown(inbound, TEXT_CHARS)),
    }
}
