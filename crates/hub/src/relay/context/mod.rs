//! What an agent is given for a turn: the layers around the live message, and what they come to.
//!
//! [`gather`] reads, [`fit`] decides, and only the first of them knows the store. The system layer is the
//! operator's and is never cut; what others said stands in the session layer, one line a turn.
mod assemble_context;
mod budget;
mod fit;
mod gather;
mod material;
mod session;
mod tools;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use protocol::Timestamp;
use protocol::relay::{Context, Envelope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use store::{SessionLayerRow, ThreadRow, Tx};

use super::settings::ContextSettings;
use crate::error::Result;
use crate::hub::Hub;

pub use assemble_context::AssembleContext;
pub use budget::{Budget, Dropped};

/// What an agent is given around a message.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Assembled {
    /// The layers. Beside those of the envelope: `tools`, the calls of this task with their results, and
    /// `refs`, the documents that it was given.
    pub context: Context,
    /// What all of it comes to, and what was left out.
    pub budget: Budget,
}

impl Assembled {
    /// The live message with its layers and its budget.
    #[must_use]
    pub fn around(&self, mut live: Envelope) -> Envelope {
        live.context = Some(self.context.clone());
        live.meta.insert("budget".to_owned(), json!(self.budget));
        live
    }
}

/// What an agent is given around a message of a thread, within a transaction.
pub fn assemble(
    tx: &mut Tx<'_>,
    settings: &ContextSettings,
    thread: &ThreadRow,
    live_seq: i64,
    now: Timestamp,
) -> Result<Assembled> {
    let material = gather::gather(tx, settings, thread, live_seq, now)?;
    Ok(fit::fit(&material, settings.tokens_max).assembled)
}

/// The same outside of any transaction. A summary that took some work is kept for the next one.
pub async fn of(
    hub: &Arc<Hub>,
    thread: &ThreadRow,
    live_seq: i64,
    now: Timestamp,
) -> Result<Assembled> {
    let (settings, row) = (hub.settings.relay.context.clone(), thread.clone());
    let material = {
        let (settings, row) = (settings.clone(), row.clone());
        hub.store.read(move |tx| gather::gather(tx, &settings, &row, live_seq, now)).await?
    };
    let fitted = fit::fit(&material, settings.tokens_max);
    if let Some((through_seq, summary)) = fitted.fresh_summary {
        let layer = SessionLayerRow { through_seq, summary, updated: now };
        let kept = hub.store.write(move |tx| tx.set_session_layer(row.row, &layer)).await;
        if let Err(error) = kept {
            tracing::debug!(%error, "a session layer was not kept; it is made again");
        }
    }
    Ok(fitted.assembled)
}
