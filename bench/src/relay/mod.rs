//! The relay: webhooks in, work for agents, finding personal data, and recalling memories.
pub(crate) mod intake;
pub(crate) mod pii;
pub(crate) mod queue;
mod recall;

use anyhow::Result;

use crate::place::Place;
use crate::table::Row;

/// Every row of the relay.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let mut rows = intake::measure(place).await?;
    rows.extend(queue::measure(place).await?);
    rows.extend(pii::measure(place)?);
    rows.extend(recall::measure(place).await?);
    Ok(rows)
}
