//! Trying again what was given up.

use protocol::Scope;
use protocol::relay::OutboxState;
use schemars::JsonSchema;
use serde::Deserialize;

use super::view::OutboxView;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Try an action again that was given up, or one that waits, now. What has arrived of it is not sent
/// again, and where that is not known the service is asked first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedriveOutbox {
    /// The action.
    outbox_id: String,
    /// Somebody has looked at the service and it did not arrive: it is sent again without asking.
    #[serde(default)]
    not_arrived: bool,
}

impl Operation for RedriveOutbox {
    const NAME: &'static str = "redrive_outbox";
    const ROUTE: Route = Route::post("/v1/outbox/{outbox_id}/redrive");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = OutboxView;

    fn object(&self) -> Object<'_> {
        Object::named(&self.outbox_id)
    }

    async fn run(self, call: &Call) -> Result<OutboxView> {
        let (id, now) = (super::outbox_id(&self.outbox_id)?, call.now());
        let workspace = call.caller().workspace_id.clone();
        let view = call
            .write(move |tx| {
                let mut row = super::locked(tx, id, &workspace)?;
                if self.not_arrived && matches!(row.state, OutboxState::Dead | OutboxState::Waiting)
                {
                    (row.sending, row.looks) = (false, 0);
                }
                match row.state {
                    OutboxState::Dead => tx.reopen_outbox(&mut row, now)?,
                    OutboxState::Waiting => {
                        row.due = row.due.min(now);
                        tx.update_outbox(&row)?;
                    }
                    OutboxState::Sending => return Ok(Change::none(OutboxView::of(tx, &row)?)),
                    OutboxState::Sent => {
                        return Err(Error::Conflict(
                            "this action has arrived; sending it again would double it".to_owned(),
                        ));
                    }
                    OutboxState::Cancelled => {
                        return Err(Error::Conflict(
                            "this action was taken back; have it proposed anew".to_owned(),
                        ));
                    }
                }
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
