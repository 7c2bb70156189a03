//! What an answer of a service means for what was sent.

use std::time::Duration;

use connector_api::toolkit::ApiAnswer;
use connector_api::{ConnectorError, Result};
use protocol::limits::outbound as limits;
use serde_json::Value;

use crate::foreign::refusal;

/// How long a service asks to wait; a while where it does not say.
pub(crate) fn patience(answer: &ApiAnswer) -> Duration {
    answer.retry_after.unwrap_or(limits::RETRY_AFTER_DEFAULT).min(limits::RETRY_AFTER_MAX)
}

/// The JSON of a success, or what the status means. A status of 500 and more leaves open whether the
/// service did what it was asked.
pub(crate) fn judged(answer: &ApiAnswer, what: &str, help: &str) -> Result<Value> {
    match answer.status {
        200..300 => serde_json::from_slice(&answer.body).map_err(|_| ConnectorError::Protocol {
            reason: format!("{what} did not answer JSON"),
        }),
        401 => Err(ConnectorError::Unauthorized { reason: format!("{what}: {help}") }),
        403 => Err(ConnectorError::Unauthorized {
            reason: format!("{what} is not allowed{}; {help}", said(answer)),
        }),
        408 | 425 | 429 => Err(ConnectorError::RateLimited { retry_after: patience(answer) }),
        503 if answer.retry_after.is_some() => {
            Err(ConnectorError::RateLimited { retry_after: patience(answer) })
        }
        300..500 => Err(ConnectorError::Refused {
            reason: format!("{what} was answered with status {}{}", answer.status, said(answer)),
        }),
        _ => Err(ConnectorError::Unreachable {
            reason: format!("{what} was answered with status {}", answer.status),
        }),
    }
}

/// What a service says of its refusal.
pub(crate) fn said(answer: &ApiAnswer) -> String {
    let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let text = value.as_ref().and_then(|value| {
        ["message", "detail", "error"].iter().find_map(|name| value.get(*name)?.as_str())
    });
    text.map(|text| format!(": {}", refusal(text))).unwrap_or_default()
}
