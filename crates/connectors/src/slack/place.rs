//! A place in a list or a history, which the hub keeps as text and hands back.

use connector_api::{ConnectorError, Result};
use protocol::limits::slack as limits;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The place that a text stands for; the beginning where there is none.
pub(super) fn read<P: Default + DeserializeOwned>(from: Option<String>) -> Result<P> {
    let Some(text) = from else { return Ok(P::default()) };
    let wrong = || ConnectorError::Refused { reason: "this is no place to go on from".to_owned() };
    if text.len() > limits::PLACE_BYTES_MAX {
        return Err(wrong());
    }
    serde_json::from_str(&text).map_err(|_| wrong())
}

/// The text of a place.
pub(super) fn write<P: Serialize>(place: &P) -> Result<String> {
    serde_json::to_string(place)
        .map_err(|_| ConnectorError::Protocol { reason: "a place cannot be written".to_owned() })
}
