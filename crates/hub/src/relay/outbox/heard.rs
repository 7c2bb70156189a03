//! A service says by itself that a part of ours arrived. If its answer was lost, this is how that is
//! known.

use connector_api::Arrived;
use protocol::relay::OutboxState;
use protocol::{OutboxId, Timestamp};
use store::{LinkRow, OutboxRow, Tx};

use crate::error::Result;

/// Keeps what a service said. What was given up because nobody knew is looked at again.
pub(crate) fn heard(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    arrived: &Arrived,
    now: Timestamp,
) -> Result<()> {
    let id = arrived.mark.split(' ').next().unwrap_or_default();
    let Ok(id) = id.parse::<OutboxId>() else { return Ok(()) };
    let is_through = |row: &OutboxRow| row.link_row == link.row && row.workspace == link.workspace;
    let Some(mut row) = tx.lock_outbox(id)?.filter(is_through) else { return Ok(()) };
    let place = (row.row, row.thread_row);
    tx.insert_posted(link.row, &arrived.remote_id, place, arrived.at)?;
    match row.state {
        OutboxState::Dead if row.sending => Ok(tx.reopen_outbox(&mut row, now)?),
        OutboxState::Waiting if row.sending => {
            row.due = now;
            Ok(tx.update_outbox(&row)?)
        }
        _ => Ok(()),
    }
}
