//! Taking back what has not left.

use protocol::Scope;
use protocol::relay::OutboxState;
use schemars::JsonSchema;
use serde::Deserialize;

use super::view::OutboxView;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Take an action back before it leaves. What is being sent, or has arrived, stays; parts of a long text
/// that have arrived stay at the service.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelOutbox {
    /// The action.
    outbox_id: String,
}

impl Operation for CancelOutbox {
    const NAME: &'static str = "cancel_outbox";
    const ROUTE: Route = Route::delete("/v1/outbox/{outbox_id}");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = OutboxView;

    fn object(&self) -> Object<'_> {
        Object::named(&self.outbox_id)
    }

    async fn run(self, call: &Call) -> Result<OutboxView> {
        let (id, now) = (super::outbox_id(&self.outbox_id)?, call.now());
        let caller = call.shared_caller();
        let view = call
            .write(move |tx| {
                let mut row = super::locked(tx, id, &caller.workspace_id)?;
                match row.state {
                    OutboxState::Waiting | OutboxState::Dead => {}
                    OutboxState::Cancelled => {
                        return Ok(Change::none(OutboxView::of(tx, &row)?));
                    }
                    OutboxState::Sending => {
                        return Err(Error::Conflict(
                            "this action is being sent; wait until that has ended".to_owned(),
                        ));
                    }
                    OutboxState::Sent => {
                        return Err(Error::Conflict(
                            "this action has arrived; take it back at the service".to_owned(),
                        ));
                    }
                }
                row.state = OutboxState::Cancelled;
                row.ended = Some(now);
                let doubt = if row.sending { "; it may have arrived" } else { "" };
                row.reason = Some(format!("{} took it back{doubt}", caller.agent_id));
                tx.end_outbox(&mut row)?;
                Ok(Change::of(row.id.to_string(), OutboxView::of(tx, &row)?))
            })
            .await?;
        call.hub.live.announce_outbox();
        Ok(view)
    }

    fn brief(output: &OutboxView) -> String {
        format!("{} is {}", output.outbox_id, output.state)
    }
}
