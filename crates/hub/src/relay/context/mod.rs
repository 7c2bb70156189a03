//! What an agent is given for a turn: the layers around the live message, and what they come to.
//!
//! [`gather`] reads, [`fit`] decides, and only the first of them knows the store. The system layer is the
//! operator's and is never cut; what others said stands in the session layer, one line a turn.
//! [`sessions`] knows where that layer is kept between turns, and [`summaries`] has a model write it.
mod assemble_context;
mod budget;
mod fit;
mod gather;
mod material;
mod points;
mod seal;
mod session;
mod sessions;
mod summaries;
mod tools;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use protocol::Timestamp;
use protocol::relay::{Context, Envelope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use store::ThreadRow;

use crate::error::{Error, Result};
use crate::hub::Hub;

pub use assemble_context::AssembleContext;
pub use budget::{Budget, Dropped};
pub(crate) use sessions::Sessions;
pub(crate) use summaries::carry_out;

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

/// What an agent is given around a message of a thread. A summary that took some work is kept for the
/// next one, and where a model is configured, it is asked for a better one in the background.
pub async fn of(
    hub: &Arc<Hub>,
    thread: &ThreadRow,
    live_seq: i64,
    now: Timestamp,
) -> Result<Assembled> {
    let (settings, row) = (hub.settings.relay.context.clone(), thread.clone());
    let is_stored = hub.sessions.are_stored();
    let tokens_max = settings.tokens_max;
    let read = hub.store.read(move |tx| {
        let material = gather::gather(tx, &settings, &row, live_seq, now)?;
        let stored = if is_stored { tx.session_layer(row.row)? } else { None };
        Ok::<_, Error>((material, stored.map(sessions::from_row)))
    });
    let (read, beside) = tokio::join!(read, hub.sessions.beside(hub, thread.id));
    let (mut material, stored) = read?;
    material.kept = hub.sessions.usable(stored.or(beside), &material.turns, now);
    let fitted = fit::fit(&material, tokens_max);
    if let Some(summary) = fitted.fresh_summary {
        let layer = hub.sessions.layer(&material.turns, summary, fit::QUOTED, now);
        sessions::keep(hub, thread.row, thread.id, layer).await;
    }
    if fitted.wants_points && hub.model.as_ref().is_some_and(|model| model.writer().is_some()) {
        let wanted = hub.sessions.wanted(thread, &material.turns, now);
        hub.sessions.want(wanted, now);
    }
    Ok(fitted.assembled)
}
