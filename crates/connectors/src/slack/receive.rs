//! Slack calls the hub, and signs what it says over the raw bytes: events, commands, buttons.
//!
//! Slack sends again, with a retry number, what was not answered in three seconds. What it says is the
//! same then, so nothing has to be remembered here.

use connector_api::{Batch, ConnectorError, HookReply, HookRequest, Result};
use protocol::Timestamp;
use protocol::limits::slack as limits;
use serde_json::{Map, Value};

use super::json::text;
use super::names::Names;
use super::{event, event_relay, map_command, map_interaction};
use crate::form;
use crate::tag::Seal;

/// Reads a request, if Slack really sent it.
pub(super) fn receive(
    seal: &Seal,
    request: &HookRequest,
    now: Timestamp,
    names: &Names,
) -> Result<HookReply> {
    if !seal.is_there() {
        return Err(ConnectorError::Setting {
            field: "signing_secret".to_owned(),
            reason: "is needed before Slack may call the hub".to_owned(),
        });
    }
    // Events are objects; whatever else Slack sends is a form.
    let is_event = request.body.first() == Some(&b'{');
    let fields = if is_event { Vec::new() } else { form::fields(&request.body) };
    if is_ssl_check(&fields) {
        return Ok(HookReply::default());
    }
    if !is_signed(seal, request, now) {
        return Err(ConnectorError::BadSignature);
    }
    if is_event {
        let value = json_of(&request.body)?;
        return Ok(read_event(&value, names));
    }
    match form::field(&fields, "payload") {
        Some(payload) => {
            let payload = json_of(payload.as_bytes())?;
            Ok(HookReply { batch: interaction(&payload), ..HookReply::default() })
        }
        None => command(fields, names, now),
    }
}

fn json_of(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|_| ConnectorError::Protocol {
        reason: "expected an event as JSON, or a form of a command or of a button".to_owned(),
    })
}

/// Whether Slack only looks at the hub's certificate. It does not sign that, and it changes nothing.
fn is_ssl_check(fields: &[(String, String)]) -> bool {
    form::field(fields, "ssl_check") == Some("1") && form::field(fields, "command").is_none()
}

fn read_event(value: &Value, names: &Names) -> HookReply {
    let mut reply = HookReply::default();
    match text(value, "type").unwrap_or_default() {
        "url_verification" => {
            reply.answer = text(value, "challenge").unwrap_or_default().into();
        }
        "event_callback" => {
            reply.batch = Batch::of(event::facts(value, names));
            reply.batch.inbound.extend(event_relay::inbound(value, &reply.batch.facts, names));
        }
        "app_rate_limited" => {
            tracing::warn!("Slack holds back events of this link: more than 30,000 an hour");
        }
        _ => tracing::debug!("a call that is no event"),
    }
    reply
}

/// What somebody did with a proposal, or nothing.
pub(super) fn interaction(payload: &Value) -> Batch {
    let interaction = map_interaction::interaction(payload);
    if interaction.is_none() {
        tracing::debug!("a button or a form that is not the hub's");
    }
    Batch { interaction, ..Batch::default() }
}

fn command(fields: Vec<(String, String)>, names: &Names, now: Timestamp) -> Result<HookReply> {
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name, value.into())).collect();
    let inbound = map_command::inbound(&Value::Object(fields), names, now);
    let inbound = inbound.ok_or_else(|| ConnectorError::Protocol {
        reason: "expected a form of a command or of a button".to_owned(),
    })?;
    let batch = Batch { inbound: vec![inbound], ..Batch::default() };
    Ok(HookReply { batch, answer: map_command::taken() })
}

/// Whether the signature is Slack's, and new. An old one may have been overheard.
fn is_signed(seal: &Seal, request: &HookRequest, now: Timestamp) -> bool {
    let Some(at) = request.header("x-slack-request-timestamp") else { return false };
    let Ok(seconds) = at.parse::<i64>() else { return false };
    let age_seconds = now.as_seconds().saturating_sub(seconds).saturating_abs();
    if age_seconds > limits::SIGNATURE_AGE_SECONDS_MAX {
        return false;
    }
    let tag = request.header("x-slack-signature").and_then(|tag| tag.strip_prefix("v0="));
    tag.is_some_and(|tag| seal.has_made(tag, &signed_bytes(at, &request.body)))
}

/// What Slack signs: the version, the moment and the body.
fn signed_bytes(at: &str, body: &[u8]) -> Vec<u8> {
    let mut signed = format!("v0:{at}:").into_bytes();
    signed.extend_from_slice(body);
    signed
}

/// A command as Slack would send it.
pub(super) fn sample(seal: &Seal, now: Timestamp) -> Result<HookRequest> {
    let trigger = format!("sample.{}", now.as_ms());
    let fields = [
        ("team_id", "T0SAMPLE"),
        ("team_domain", "sample"),
        ("channel_id", "C0SAMPLE"),
        ("channel_name", "sample"),
        ("user_id", "U0SAMPLE"),
        ("user_name", "sample"),
        ("command", "/waystation"),
        ("text", "This is a sample, to try the way in"),
        ("api_app_id", "A0SAMPLE"),
        ("is_enterprise_install", "false"),
        ("trigger_id", &trigger),
    ];
    let pairs = fields.map(|(name, value)| format!("{name}={}", form::encoded(value)));
    let body = pairs.join("&").into_bytes();
    let at = now.as_seconds().to_string();
    let tag = seal.make(&signed_bytes(&at, &body)).ok_or_else(|| ConnectorError::Setting {
        field: "signing_secret".to_owned(),
        reason: "is needed to sign a sample; what comes over a socket is not signed".to_owned(),
    })?;
    let headers = [
        ("content-type", "application/x-www-form-urlencoded".to_owned()),
        ("x-slack-request-timestamp", at),
        ("x-slack-signature", format!("v0={tag}")),
    ];
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body })
}

#[cfg(test)]
mod tests {
    use ring::hmac;

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
        let seal = |secret| Seal::new(hmac::HMAC_SHA256, [secret]);
        let ours = seal("8f742231b10e8888abcd99yyyzzz85a5");
        let reply = receive(&ours, &request, now, &Names::default()).unwrap();
        let command = reply.batch.inbound.first().unwrap();
        assert_eq!(command.text, "/webhook-collect");
        assert_eq!(command.actor.name, "roadrunner");
        let other = seal("8f742231b10e8888abcd99yyyzzz85a6");
        let refused = receive(&other, &request, now, &Names::default());
        assert!(matches!(refused, Err(ConnectorError::BadSignature)));
    }
}
