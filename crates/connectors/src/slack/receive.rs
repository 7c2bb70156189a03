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
            reply.answer = text(&value, "challenge").unwrap_or_default().into();
        }
        "event_callback" => {
            reply.batch = Batch::of(event::facts(&value, names));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_slack_s_documentation_is_signed() {
        let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
                    &channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
                    &command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com\
                    %2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=\
                    398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
        let request = HookRequest {
            headers: vec![
                ("x-slack-request-timestamp".to_owned(), "1531420618".to_owned()),
                ("x-slack-signature".to_owned(), signature.to_owned()),
            ],
            body: body.as_bytes().to_vec(),
            ..HookRequest::default()
        };
        let now = Timestamp::from_ms(1_531_420_618_000);
        assert!(is_signed("8f742231b10e8888abcd99yyyzzz85a5", &request, now));
        assert!(!is_signed("8f742231b10e8888abcd99yyyzzz85a6", &request, now));
    }
}
