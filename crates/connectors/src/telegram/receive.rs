//! What Telegram sends by itself, if it really is Telegram.

use connector_api::{Batch, ConnectorError, HookReply, HookRequest, Result};
use protocol::Timestamp;
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::client::{Client, Mode};
use super::translate;

/// The header in which Telegram repeats the secret that was given to `setWebhook`.
const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

/// Reads an update.
pub(super) fn read(client: &Client, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
    let Mode::Webhook { secret } = &client.mode else {
        return Err(ConnectorError::Unsupported { service: "a polling bot", what: "be called" });
    };
    let given = request.header(SECRET_HEADER).unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(secret.expose().as_bytes())) {
        return Err(ConnectorError::BadSignature);
    }
    let update: Value = serde_json::from_slice(&request.body).map_err(|_| {
        ConnectorError::Protocol { reason: "expected an update as JSON".to_owned() }
    })?;
    let facts = translate::update(&update, &client.bot_id, now);
    // Updates may come late and out of order, so there is no place to go on from, and nothing is
    // said to be whole: what Telegram gave up delivering is never heard of.
    Ok(HookReply { batch: Batch::of(facts), ..HookReply::default() })
}
