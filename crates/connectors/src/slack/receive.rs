//! The Events API: Slack calls the hub, and signs what it says over the raw bytes.
//!
//! Slack sends again, with a retry number, what was not answered in three seconds. The facts are the
//! same then, so nothing has to be remembered here.

use connector_api::{Batch, ConnectorError, HookReply, HookRequest, Result};
use protocol::Timestamp;
use protocol::limits::slack as limits;
use ring::hmac;
use serde_json::Value;

use super::event;
use super::json::text;
use super::names::Names;

/// Reads a request, if Slack really sent it.
pub(super) fn receive(
    signing_secret: &str,
    request: &HookRequest,
    now: Timestamp,
    names: &Names,
) -> Result<HookReply> {
    if signing_secret.is_empty() {
        return Err(ConnectorError::Setting {
            field: "signing_secret".to_owned(),
            reason: "is needed before Slack may call the hub".to_owned(),
        });
    }
    if !is_signed(signing_secret, request, now) {
        return Err(ConnectorError::BadSignature);
    }
    let value: Value = serde_json::from_slice(&request.body)
        .map_err(|_| ConnectorError::Protocol { reason: "expected an event as JSON".to_owned() })?;
    let mut reply = HookReply::default();
    match text(&value, "type").unwrap_or_default() {
        "url_verification" => {
            text(&value, "challenge").unwrap_or_default().clone_into(&mut reply.answer);
        }
        "event_callback" => {
            reply.batch = Batch { facts: event::facts(&value, names), cursor: None };
        }
        "app_rate_limited" => {
            tracing::warn!("Slack holds back events of this link: more than 30,000 an hour");
        }
        _ => tracing::debug!("a call that is no event"),
    }
    Ok(reply)
}

/// Whether the signature is Slack's, and new. An old one may have been overheard.
fn is_signed(signing_secret: &str, request: &HookRequest, now: Timestamp) -> bool {
    let Some(at) = request.header("x-slack-request-timestamp") else { return false };
    let Ok(seconds) = at.parse::<i64>() else { return false };
    let age_seconds = now.as_seconds().saturating_sub(seconds).saturating_abs();
    if age_seconds > limits::SIGNATURE_AGE_SECONDS_MAX {
        return false;
    }
    let Some(signature) = request.header("x-slack-signature").and_then(digest) else {
        return false;
    };
    let mut signed = format!("v0:{at}:").into_bytes();
    signed.extend_from_slice(&request.body);
    let key = hmac::Key::new(hmac::HMAC_SHA256, signing_secret.as_bytes());
    hmac::verify(&key, &signed, &signature).is_ok()
}

/// The bytes of `v0=` and hexadecimal digits.
fn digest(signature: &str) -> Option<Vec<u8>> {
    let digits = signature.strip_prefix("v0=")?.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
