//! A service that says what a test wants it to say, signed or not, and its connector.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{
    Account, Actor, Batch, BoxFuture, Capabilities, Connector, ConnectorError, ConnectorKind,
    Field, HookReply, HookRequest, Inbound, Intent, LinkSettings, MissedPage, Result,
};
use parking_lot::Mutex;
use protocol::Timestamp;
use serde_json::{Map, Value, json};

/// How old a signature may be.
pub(crate) const SIGNATURE_MS_MAX: i64 = 300_000;

/// The service, as a test sees it.
#[derive(Default)]
pub(crate) struct Service {
    /// What it did not manage to say: pages of bodies.
    pub(crate) missed: Mutex<Vec<Vec<Value>>>,
    /// Since when it was asked for that, and from which page.
    pub(crate) asked: Mutex<Vec<(Timestamp, Option<String>)>>,
    /// Whether it can be asked at all.
    pub(crate) can_say: Mutex<bool>,
}

impl Service {
    /// The table of services with this one alone.
    pub(crate) fn kinds(self: &Arc<Self>) -> testkit::Connectors {
        let kind: &'static Kind = Box::leak(Box::new(Kind(Arc::clone(self))));
        Box::leak(Box::new([kind as &dyn ConnectorKind]))
    }
}

struct Kind(Arc<Service>);

impl ConnectorKind for Kind {
    fn service(&self) -> &'static str {
        "github"
    }

    fn title(&self) -> &'static str {
        "GitHub"
    }

    fn guide(&self) -> &'static str {
        "Ask the test."
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn connect(&self, _: &LinkSettings, _: HttpClient) -> Result<Arc<dyn Connector>> {
        Ok(Arc::new(Client(Arc::clone(&self.0))))
    }
}

struct Client(Arc<Service>);

impl Connector for Client {
    fn capabilities(&self) -> Capabilities {
        Capabilities { hooks: true, relay: true, ..Capabilities::default() }
    }

    fn check(&self) -> BoxFuture<'_, Result<Account>> {
        Box::pin(std::future::ready(Ok(Account::default())))
    }

    fn receive(&self, request: &HookRequest, now: Timestamp) -> Result<HookReply> {
        let signed: Option<i64> = request.header("x-signed-at").and_then(|at| at.parse().ok());
        let Some(signed) = signed else { return Err(ConnectorError::BadSignature) };
        if (now.as_ms() - signed).abs() > SIGNATURE_MS_MAX {
            return Err(ConnectorError::BadSignature);
        }
        let said: Value = serde_json::from_slice(&request.body)
            .map_err(|_| ConnectorError::Protocol { reason: "expected JSON".to_owned() })?;
        let said = said.as_array().cloned().unwrap_or_else(|| vec![said]);
        let inbound = said.iter().map(inbound).collect();
        Ok(HookReply { batch: Batch { inbound, ..Batch::default() }, answer: "ok".into() })
    }

    fn missed(&self, since: Timestamp, from: Option<String>) -> BoxFuture<'_, Result<MissedPage>> {
        Box::pin(async move {
            if !*self.0.can_say.lock() {
                return Err(ConnectorError::Unsupported { service: "it", what: "say" });
            }
            self.0.asked.lock().push((since, from.clone()));
            let pages = self.0.missed.lock();
            let page: usize = from.map_or(0, |from| from.parse().unwrap());
            let said = pages.get(page).cloned().unwrap_or_default();
            let next = (page + 1 < pages.len()).then(|| (page + 1).to_string());
            Ok(MissedPage { inbound: said.iter().map(inbound).collect(), next })
        })
    }

    fn sample(&self, now: Timestamp) -> Result<HookRequest> {
        Ok(request(&said("sample", &format!("at {now}")), now))
    }
}

/// What a body says, in the relay's words.
fn inbound(said: &Value) -> Inbound {
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    let maybe = |key: &str| said[key].as_str().map(str::to_owned);
    let object = |key: &str| said[key].as_object().cloned().unwrap_or_else(Map::new);
    Inbound {
        transport_key: text("delivery"),
        semantic_key: maybe("what"),
        event: text("event"),
        intent: match said["intent"].as_str() {
            Some("note") => Intent::Note,
            Some("reply") => Intent::Reply,
            Some("control") => Intent::Control,
            Some("own") => Intent::Own,
            Some("private") => Intent::Private,
            _ => Intent::Work,
        },
        thread_key: text("thread"),
        title: text("title"),
        actor: Actor { id: text("actor"), name: text("actor"), is_bot: false },
        text: text("text"),
        url: maybe("url"),
        at: said["at"].as_i64().map(Timestamp::from_ms),
        address: object("address"),
        remote_id: maybe("remote_id"),
        changes: maybe("changes"),
        facts: object("facts"),
    }
}

/// Something that is said in issue 12.
pub(crate) fn said(delivery: &str, text: &str) -> Value {
    json!({
        "delivery": delivery, "event": "issues.opened", "thread": "github:acme/shop#12",
        "title": "The shop is closed", "actor": "octocat", "text": text,
        "url": "https://github.com/acme/shop/issues/12",
        "address": { "repo": "acme/shop", "number": 12 },
        "facts": { "labels": ["bug"] },
    })
}

/// The same with some of it changed.
pub(crate) fn with(mut said: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        said[key] = value.clone();
    }
    said
}

/// A signed request that says it.
pub(crate) fn request(said: &Value, at: Timestamp) -> HookRequest {
    HookRequest {
        method: "POST".to_owned(),
        headers: vec![
            ("x-signed-at".to_owned(), at.as_ms().to_string()),
            ("authorization".to_owned(), "hunter2".to_owned()),
        ],
        query: Vec::new(),
        body: said.to_string().into_bytes(),
    }
}
