//! The relay: webhooks in.
mod intake;

use anyhow::Result;

use crate::place::Place;
use crate::table::Row;

/// Every row of the relay.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    intake::measure(place).await
}
