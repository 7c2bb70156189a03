//! The way in: GitHub calls the hub and signs the bytes of what it says.

use connector_api::{
    Batch, ConnectorError, HookAnswer, HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;
use ring::hmac;
use serde_json::{Value, json};

use super::map;
use super::own::Own;
use super::payload::Plain;
use crate::foreign::Foreign;
use crate::form;
use crate::tag::{Seal, body_key};
use crate::words::put;

/// What a link needs to read what GitHub says.
#[derive(Debug)]
pub(super) struct WayIn {
    seal: Seal,
    own: Own,
    /// The installation this link is for; empty where it is for all of them.
    installation_id: String,
}

impl WayIn {
    /// From the link's settings.
    pub(super) fn new(settings: &LinkSettings) -> Self {
        let secrets = [settings.secret("webhook_secret"), settings.secret("webhook_secret_old")];
        Self {
            seal: Seal::new(hmac::HMAC_SHA256, secrets),
            own: Own::new(settings.text("app_id")),
            installation_id: settings.text("installation_id").trim().to_owned(),
        }
    }

    /// Whether GitHub may call at all: without a secret anybody could.
    pub(super) fn is_open(&self) -> bool {
        self.seal.is_there()
    }

    /// Who this link is at GitHub.
    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// Reads a delivery, if GitHub really sent it.
    pub(super) fn receive(&self, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
        self.verify(request)?;
        let event = request.header("x-github-event").unwrap_or("unknown");
        let payload = payload(request, event)?;
        if !self.is_of_this_installation(&payload) {
            tracing::debug!("a delivery of another installation of the same app");
            return Ok(HookReply::default());
        }
        let digest;
        let delivery_id = if let Some(id) = request.header("x-github-delivery") {
            id
        } else {
            digest = body_key(&request.body);
            &digest
        };
        let mut inbound = map::inbound(self.own(), event, delivery_id, &payload);
        inbound.at = inbound.at.or(Some(now));
        let batch = Batch { inbound: vec![inbound], ..Batch::default() };
        Ok(HookReply { batch, answer: HookAnswer::default() })
    }

    /// An app calls for all of its installations, and somebody else's is none of this link's business.
    fn is_of_this_installation(&self, payload: &Value) -> bool {
        let id = payload.object("installation").and_then(|installation| installation.number("id"));
        self.installation_id.is_empty()
            || id.is_none_or(|id| id.to_string() == self.installation_id)
    }

    fn verify(&self, request: &HookRequest) -> Result<()> {
        if !self.is_open() {
            return Err(ConnectorError::Setting {
                field: "webhook_secret".to_owned(),
                reason: "is needed before GitHub may call the hub".to_owned(),
            });
        }
        let tag = request.header("x-hub-signature-256").and_then(|tag| tag.strip_prefix("sha256="));
        match tag {
            Some(tag) if self.seal.has_made(tag, &request.body) => Ok(()),
            _ => Err(ConnectorError::BadSignature),
        }
    }

    /// A delivery as GitHub would send it.
    pub(super) fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        let mut payload: Value = serde_json::from_str(include_str!("fixtures/issue_opened.json"))
            .expect("the sample is JSON");
        // Each sample is an issue of its own, or the second one would be taken for the first again.
        let fields = [
            ("title", json!("A sample, to try the way in")),
            ("id", json!(now.as_ms())),
            ("created_at", json!(now)),
            ("updated_at", json!(now)),
        ];
        put(payload.get_mut("issue"), fields);
        let installation = self.installation_id.parse::<u64>().map(|id| json!({ "id": id }));
        put(Some(&mut payload), [("installation", installation.unwrap_or_default())]);
        let body = payload.to_string().into_bytes();
        let tag = self.seal.make(&body).ok_or_else(|| ConnectorError::Setting {
            field: "webhook_secret".to_owned(),
            reason: "is needed to sign a sample".to_owned(),
        })?;
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("user-agent", "GitHub-Hookshot/sample".to_owned()),
            ("x-github-event", "issues".to_owned()),
            ("x-github-delivery", format!("sample-{}", now.as_ms())),
            ("x-hub-signature-256", format!("sha256={tag}")),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body })
    }
}

/// The payload: the body itself, or a field of it where the webhook sends forms.
fn payload(request: &HookRequest, event: &str) -> Result<Value> {
    let is_form = request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    let read = if is_form {
        let fields = form::fields(&request.body);
        read(form::field(&fields, "payload").unwrap_or_default().as_bytes(), event)
    } else {
        read(&request.body, event)
    };
    read.map_err(|_| ConnectorError::Protocol {
        reason: "expected a payload as JSON, or a form with a field `payload`".to_owned(),
    })
}

fn read(json: &[u8], event: &str) -> serde_json::Result<Value> {
    if map::is_kept_whole(event) {
        return serde_json::from_slice(json);
    }
    serde_json::from_slice(json).map(|Plain(payload)| payload)
}
