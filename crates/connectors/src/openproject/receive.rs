//! The way in: OpenProject calls the hub and signs the bytes of what it says.

use connector_api::toolkit::Destination;
use connector_api::{
    Batch, ConnectorError, HookAnswer, HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;
use ring::hmac;
use serde_json::{Value, json};

use super::map;
use super::own::Own;
use crate::tag::{Seal, body_key};
use crate::words::put;

/// What a link needs to read what OpenProject says.
#[derive(Debug)]
pub(super) struct WayIn {
    seal: Seal,
    own: Own,
    base: Base,
}

/// Where the instance is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    /// `projects.example.org`.
    pub(super) host: String,
    /// As in the browser, without a slash at the end.
    pub(super) url: String,
}

impl WayIn {
    /// From the link's settings.
    pub(super) fn new(settings: &LinkSettings) -> Result<Self> {
        let secrets = [settings.secret("webhook_secret"), settings.secret("webhook_secret_old")];
        let url = settings.text("base_url").trim();
        let host = Destination::configured(url)?.host().to_owned();
        Ok(Self {
            // OpenProject knows no other digest.
            seal: Seal::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secrets),
            own: Own::default(),
            base: Base { host, url: url.trim_end_matches('/').to_owned() },
        })
    }

    /// Whether OpenProject may call at all: without a secret anybody could.
    pub(super) fn is_open(&self) -> bool {
        self.seal.is_there()
    }

    /// Who this link is at OpenProject.
    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// Reads a delivery, if OpenProject really sent it.
    pub(super) fn receive(&self, request: &HookRequest) -> Result<HookReply> {
        self.verify(request)?;
        let payload: Value = serde_json::from_slice(&request.body).map_err(|_| {
            ConnectorError::Protocol { reason: "expected a payload as JSON".to_owned() }
        })?;
        let mut inbound = map::inbound(self.own(), &self.base, &payload);
        inbound.transport_key = body_key(&request.body);
        let batch = Batch { inbound: vec![inbound], ..Batch::default() };
        Ok(HookReply { batch, answer: HookAnswer::default() })
    }

    fn verify(&self, request: &HookRequest) -> Result<()> {
        if !self.is_open() {
            return Err(ConnectorError::Setting {
                field: "webhook_secret".to_owned(),
                reason: "is needed before OpenProject may call the hub".to_owned(),
            });
        }
        let tag = request.header("x-op-signature").and_then(|tag| tag.strip_prefix("sha1="));
        match tag {
            Some(tag) if self.seal.has_made(tag, &request.body) => Ok(()),
            _ => Err(ConnectorError::BadSignature),
        }
    }

    /// A delivery as OpenProject would send it.
    pub(super) fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        let mut payload: Value =
            serde_json::from_str(include_str!("fixtures/work_package_created.json"))
                .expect("the sample is JSON");
        // Each sample is one of its own, or the second one would be taken for the first again.
        let fields = [
            ("subject", json!("A sample, to try the way in")),
            ("id", json!(now.as_ms())),
            ("createdAt", json!(now)),
            ("updatedAt", json!(now)),
        ];
        put(payload.get_mut("work_package"), fields);
        let body = payload.to_string().into_bytes();
        let tag = self.seal.make(&body).ok_or_else(|| ConnectorError::Setting {
            field: "webhook_secret".to_owned(),
            reason: "is needed to sign a sample".to_owned(),
        })?;
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json".to_owned()),
            ("x-op-signature", format!("sha1={tag}")),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body })
    }
}
