//! A service that calls the hub, and signs the bytes it sends.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Batch, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind, Field,
    HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;
use serde_json::json;

/// What it says when somebody wrote something.
pub(crate) fn body(id: &str, text: &str) -> Vec<u8> {
    let message = json!({
        "chat_id": "c", "message_id": id, "sent_at": format!("2026-02-17T11:00:0{id}Z"),
        "sender_id": "antti", "sender_name": "Antti", "text": text,
    });
    json!({ "messages": [message] }).to_string().into_bytes()
}

/// How it signs: every byte counts, and where it stands.
pub(crate) fn signature(body: &[u8]) -> String {
    let mix = |sum: u64, byte: &u8| sum.wrapping_mul(31).wrapping_add(u64::from(*byte));
    format!("v1={:x}", body.iter().fold(17, mix))
}

pub(crate) struct Kind;

const FIELDS: &[Field] = &[];

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "signed"
    }

    fn title(&self) -> &'static str {
        "Signed"
    }

    fn guide(&self) -> &'static str {
        "Nothing is needed."
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client))
    }
}

struct Client;

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn receive(&self, request: &HookRequest, _: Timestamp) -> Result<HookReply> {
        if let (Some(challenge), Some("a b")) =
            (request.parameter("challenge"), request.parameter("mode"))
        {
            return Ok(HookReply { answer: challenge.into(), ..HookReply::default() });
        }
        if request.header("x-signature") != Some(signature(&request.body).as_str()) {
            return Err(ConnectorError::BadSignature);
        }
        let facts = serde_json::from_slice(&request.body)
            .map_err(|_| ConnectorError::Protocol { reason: "expected facts".to_owned() })?;
        Ok(HookReply { batch: Batch::of(facts), answer: "taken".into() })
    }
}
