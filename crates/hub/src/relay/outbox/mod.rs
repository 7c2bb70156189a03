//! The outbox: what leaves for services. An action is a row before anything is sent, and its row says
//! how far it came, whatever happens to the hub meanwhile.
mod breaker;
mod cancel_outbox;
mod enqueue;
mod heard;
mod list_outbox;
mod pace;
mod patience;
mod prepare;
mod record;
mod redrive_outbox;
mod send;
mod state;
mod view;

pub use cancel_outbox::CancelOutbox;
pub use enqueue::{NewOutbox, Replaces, destination, enqueue};
pub use list_outbox::ListOutbox;
pub use redrive_outbox::RedriveOutbox;
pub use view::{OutboxView, StoredReceipt, receipts};

pub(crate) use heard::heard;
pub(crate) use send::send;
pub(crate) use state::Outbox;

use protocol::OutboxId;
use store::{OutboxRow, Tx};

use crate::error::{Error, Result};

/// An action of the caller's workspace; nobody else may change it until the commit.
fn locked(tx: &mut Tx<'_>, id: OutboxId, workspace: &str) -> Result<OutboxRow> {
    let row = tx.lock_outbox(id)?.filter(|row| row.workspace == workspace);
    row.ok_or(Error::NotFound { what: "action" })
}

/// Reads an id. What is no id names no action.
fn outbox_id(text: &str) -> Result<OutboxId> {
    text.parse().map_err(|_| Error::NotFound { what: "action" })
}
