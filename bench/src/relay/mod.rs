//! The relay: webhooks in, work for agents.
mod intake;
mod queue;

use anyhow::Result;

use crate::place::Place;
use crate::table::Row;

/// Every row of the relay.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let mut rows = intake::measure(place).await?;
    rows.extend(queue::measure(place).await?);
    Ok(rows)
}
