//! A service says by itself that a part of ours arrived. If its answer was lost, this is how that is
//! known.

use connector_api::Arrived;
use protocol::relay::OutboxState;
use protocol::{OutboxId, Timestamp};
use store::{LinkRow, Tx};

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
    let Some(mut row) = tx.lock_outbox(id)?.filter(|row| row.link_row == link.row) else {
        return Ok(());
    };
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
