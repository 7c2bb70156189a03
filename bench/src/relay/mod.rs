//! The relay: finding personal data, and recalling memories.
pub(crate) mod pii;
mod recall;

use anyhow::Result;

use crate::place::Place;
use crate::table::Row;

/// Every row of the relay.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let mut rows = pii::measure(place)?;
    rows.extend(recall::measure(place).await?);
    Ok(rows)
}
