//! Requests of WhatsApp: whether they really are, and what they report.

use connector_api::{Arrived, Batch, ConnectorError, HookReply, HookRequest, Result};
use protocol::chat::Facts;
use protocol::limits::chats as limits;
use ring::hmac;
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::message::Scene;
use crate::foreign::{Foreign, moment_seconds};
use crate::tag::Seal;

/// Answers WhatsApp's question whether this is the hook that the owner meant.
pub(super) fn challenge(request: &HookRequest, verify_token: &str) -> Result<HookReply> {
    let token = request.parameter("hub.verify_token").unwrap_or_default();
    let is_ours: bool = token.as_bytes().ct_eq(verify_token.as_bytes()).into();
    let challenge = request.parameter("hub.challenge").unwrap_or_default();
    let is_asked = request.parameter("hub.mode") == Some("subscribe")
        && !challenge.is_empty()
        && challenge.len() <= limits::WHATSAPP_CHALLENGE_BYTES_MAX;
    if is_ours && is_asked {
        return Ok(HookReply { answer: challenge.into(), ..HookReply::default() });
    }
    Err(ConnectorError::BadSignature)
}

/// Makes sure that the body is WhatsApp's, byte for byte.
pub(super) fn verify(request: &HookRequest, app_secret: &str) -> Result<()> {
    let tag = request.header("x-hub-signature-256").and_then(|value| value.strip_prefix("sha256="));
    let seal = Seal::new(hmac::HMAC_SHA256, [app_secret]);
    if tag.is_some_and(|tag| seal.has_made(tag, &request.body)) {
        return Ok(());
    }
    Err(ConnectorError::BadSignature)
}

/// Reads what is reported, as far as it is of this number.
pub(super) fn read(body: &[u8], phone_number_id: &str) -> Result<HookReply> {
    let report: Value = serde_json::from_slice(body)
        .map_err(|_| ConnectorError::Protocol { reason: "WhatsApp reports in JSON".to_owned() })?;
    let (mut facts, mut arrived) = (Facts::default(), Vec::new());
    for change in report.list("entry").iter().flat_map(|entry| entry.list("changes")) {
        let Some(value) = change.object("value") else { continue };
        let of = value.object("metadata").and_then(|metadata| metadata.text("phone_number_id"));
        // An app has one hook for all its numbers. The others are links of their own.
        if of.is_none_or(|id| id == phone_number_id) {
            Scene::new(value, phone_number_id).read(&mut facts);
            arrived.extend(value.list("statuses").iter().filter_map(ours));
        }
    }
    let batch = Batch { arrived, ..Batch::of(facts) };
    Ok(HookReply { batch, ..HookReply::default() })
}

/// A message of ours that a status is about: whatever became of it, WhatsApp has it.
fn ours(status: &Value) -> Option<Arrived> {
    let mark = status.text("biz_opaque_callback_data")?;
    let at = status.number("timestamp").and_then(moment_seconds)?;
    Some(Arrived { mark: mark.to_owned(), remote_id: status.text("id")?.to_owned(), at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_signature_is_right() {
        // From RFC 4231, test case 2.
        let signed = |body: &[u8], tag: &str| {
            let header = ("x-hub-signature-256".to_owned(), format!("sha256={tag}"));
            let body = body.to_vec();
            verify(&HookRequest { headers: vec![header], body, ..Default::default() }, "Jefe")
        };
        let tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert!(signed(b"what do ya want for nothing?", tag).is_ok());
        assert!(signed(b"what do ya want for nothing!", tag).is_err());
        assert!(signed(b"what do ya want for nothing?", &tag[..62]).is_err());
        assert!(signed(b"what do ya want for nothing?", "").is_err());
    }
}
