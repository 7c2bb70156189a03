//! The way in: Sentry calls the hub and signs the bytes of what it says.

use connector_api::toolkit::Destination;
use connector_api::{
    Batch, ConnectorError, HookAnswer, HookReply, HookRequest, LinkSettings, Result,
};
use protocol::Timestamp;
use ring::hmac;
use serde_json::{Value, json};

use super::map;
use super::own::Own;
use crate::foreign::moment_seconds;
use crate::tag::{Seal, body_key};
use crate::words::put;

/// The headers that a tag may stand in: one of webhooks, one of what a person does in Sentry's pages.
const TAGS: [&str; 2] = ["sentry-hook-signature", "sentry-app-signature"];

/// What a link needs to read what Sentry says.
#[derive(Debug)]
pub(super) struct WayIn {
    seal: Seal,
    own: Own,
    host: String,
    /// Where a person finds the issues, if the organization is known.
    issues: Option<String>,
}

impl WayIn {
    /// From the link's settings.
    pub(super) fn new(settings: &LinkSettings) -> Result<Self> {
        let secrets = [settings.secret("client_secret"), settings.secret("client_secret_old")];
        let base = settings.text("base_url").trim().trim_end_matches('/');
        let organization = settings.text("organization").trim();
        let issues = format!("{base}/organizations/{organization}/issues");
        Ok(Self {
            seal: Seal::new(hmac::HMAC_SHA256, secrets),
            own: Own::default(),
            host: Destination::configured(base)?.host().to_owned(),
            issues: Some(issues).filter(|_| !organization.is_empty()),
        })
    }

    /// Whether Sentry may call at all: without a secret anybody could.
    pub(super) fn is_open(&self) -> bool {
        self.seal.is_there()
    }

    /// Who this link is at Sentry.
    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// Where Sentry is, for the names of threads.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Reads a delivery, if Sentry really sent it.
    pub(super) fn receive(&self, request: &HookRequest) -> Result<HookReply> {
        self.verify(request)?;
        if request.method == "GET" {
            // A form of Sentry's asks what it may offer; the hub offers nothing.
            return Ok(HookReply { answer: HookAnswer::Json(json!([])), ..HookReply::default() });
        }
        let payload: Value = serde_json::from_slice(&request.body).map_err(|_| {
            ConnectorError::Protocol { reason: "expected a payload as JSON".to_owned() }
        })?;
        let resource = request.header("sentry-hook-resource").unwrap_or("form");
        self.own.hear(&payload);
        let mut inbound = map::inbound(self.own(), self.host(), resource, &payload);
        // Sentry numbers its attempts, not what it says.
        inbound.transport_key = body_key(&request.body);
        let seconds = request.header("sentry-hook-timestamp").and_then(|at| at.parse().ok());
        inbound.at = inbound.at.or(seconds.and_then(moment_seconds));
        let issue = inbound.address.get("issue").and_then(Value::as_str);
        if let (None, Some(issues), Some(issue)) = (&inbound.url, &self.issues, issue) {
            inbound.url = Some(format!("{issues}/{issue}/"));
        }
        let batch = Batch { inbound: vec![inbound], ..Batch::default() };
        Ok(HookReply { batch, answer: HookAnswer::default() })
    }

    fn verify(&self, request: &HookRequest) -> Result<()> {
        if !self.is_open() {
            return Err(ConnectorError::Setting {
                field: "client_secret".to_owned(),
                reason: "is needed before Sentry may call the hub".to_owned(),
            });
        }
        let mut tags = TAGS.into_iter().filter_map(|name| request.header(name));
        if tags.any(|tag| self.seal.has_made(tag, &request.body)) {
            return Ok(());
        }
        Err(ConnectorError::BadSignature)
    }

    /// A delivery as Sentry would send it.
    pub(super) fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        let mut payload: Value = serde_json::from_str(include_str!("fixtures/issue_created.json"))
            .expect("the sample is JSON");
        // Each sample is an issue of its own, or the second one would be taken for the first again.
        let fields = [
            ("title", json!("A sample, to try the way in")),
            ("id", json!(now.as_ms().to_string())),
            ("firstSeen", json!(now)),
            ("lastSeen", json!(now)),
        ];
        put(payload.pointer_mut("/data/issue"), fields);
        let body = payload.to_string().into_bytes();
        let tag = self.seal.make(&body).ok_or_else(|| ConnectorError::Setting {
            field: "client_secret".to_owned(),
            reason: "is needed to sign a sample".to_owned(),
        })?;
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("request-id", format!("sample-{}", now.as_ms())),
            ("sentry-hook-resource", "issue".to_owned()),
            ("sentry-hook-timestamp", now.as_seconds().to_string()),
            ("sentry-hook-signature", tag),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(HookRequest { method: "POST".to_owned(), headers, query: Vec::new(), body })
    }
}
