//! What Sentry says, in the relay's words. What nobody knows yet is kept, without what is personal.

use connector_api::{Actor, Inbound, Intent};
use serde_json::{Map, Value, json};

use super::own::{Own, SENTRY_ITSELF};
use super::{map_alert, map_error, map_issue};
use crate::foreign::Foreign;
use crate::tag::body_key;
use crate::words::{key, title, trimmed, under};

/// Fields that hold people, or what they had in their hands when something broke.
pub(super) const PRIVATE: [&str; 22] = [
    "user",
    "users",
    "request",
    "contexts",
    "vars",
    "env",
    "headers",
    "cookies",
    "query_string",
    "extra",
    "breadcrumbs",
    "entries",
    "exception",
    "stacktrace",
    "threads",
    "tags",
    "sdk",
    "modules",
    "email",
    "ip_address",
    "username",
    "_meta",
];

/// One delivery, while it is read.
pub(super) struct Said<'a> {
    /// `issue`.
    pub(super) resource: &'a str,
    /// `created`.
    pub(super) action: &'a str,
    /// The part of the payload that says what happened.
    pub(super) data: &'a Value,
    host: &'a str,
    payload: &'a Value,
}

/// Reads a delivery. The same one always gives the same.
pub(super) fn inbound(own: &Own, host: &str, resource: &str, payload: &Value) -> Inbound {
    let action = payload.text("action").unwrap_or_default();
    let data = payload.object("data").unwrap_or(&Value::Null);
    let said = Said { resource, action, data, host, payload };
    let mut inbound = match resource {
        "issue" => map_issue::issue(&said),
        "comment" => map_issue::comment(&said),
        "error" => map_error::event(&said, "error"),
        "event_alert" => map_error::event(&said, "event"),
        "metric_alert" => map_alert::metric(&said),
        "installation" => control(&said),
        "form" => form(&said),
        _ => map_alert::other(&said),
    };
    if inbound.intent != Intent::Control && own.did(payload) {
        inbound.intent = Intent::Own;
    }
    inbound
}

impl<'a> Said<'a> {
    /// What every delivery has.
    pub(super) fn begin(&self) -> Inbound {
        let event = match self.action {
            "" => self.resource.to_owned(),
            action => format!("{}.{action}", self.resource),
        };
        let mut facts = Map::new();
        facts.insert("resource".to_owned(), self.resource.into());
        if !self.action.is_empty() {
            facts.insert("action".to_owned(), self.action.into());
        }
        Inbound {
            transport_key: body_key(self.payload.to_string().as_bytes()),
            event,
            thread_key: format!("sentry:{}:{}", self.host, self.resource),
            title: format!("Sentry {}", self.resource.replace('_', " ")),
            actor: self.actor(),
            facts,
            ..Inbound::default()
        }
    }

    fn actor(&self) -> Actor {
        let actor = self.payload.object("actor").unwrap_or(&Value::Null);
        let id = match actor.get("id") {
            Some(Value::String(id)) if !id.is_empty() => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => SENTRY_ITSELF.to_owned(),
        };
        let name = actor.text("name").unwrap_or("Sentry").to_owned();
        Actor { id, name: title(&name), is_bot: actor.text("type") != Some("user") }
    }

    /// Puts something in the thread of its issue, which can be answered.
    pub(super) fn of_issue(&self, inbound: &mut Inbound, issue_id: &str, called: &str) {
        if issue_id.is_empty() {
            return;
        }
        inbound.thread_key = format!("sentry:{}:{issue_id}", self.host);
        inbound.title = title(called);
        inbound.address.insert("issue".to_owned(), issue_id.into());
        inbound.facts.insert("issue_id".to_owned(), issue_id.into());
    }

    /// Puts something in a thread of its own.
    pub(super) fn apart(&self, inbound: &mut Inbound, sort: &str, id: &str, called: &str) {
        inbound.thread_key = format!("sentry:{}:{sort}:{id}", self.host);
        inbound.title = title(called);
    }

    /// `issue.created:4509:…`.
    pub(super) fn semantic_key(&self, id: &str, more: &str) -> String {
        key([&format!("{}.{}", self.resource, self.action), id, more])
    }

    /// A digest of what is said, where nothing else tells two deliveries apart.
    pub(super) fn digest(&self) -> String {
        let digest = body_key(self.data.to_string().as_bytes());
        digest.chars().skip("sha256:".len()).take(32).collect()
    }

    /// The first of these fields that is there.
    pub(super) fn first(thing: &'a Value, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| thing.text(name))
    }
}

/// An id, which Sentry writes as a number or as a text.
pub(super) fn id(thing: &Value, name: &str) -> String {
    match thing.get(name) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// `installation`: somebody installed or removed the integration.
fn control(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    inbound.intent = Intent::Control;
    inbound.text = format!("The integration was {} by {}", said.action, inbound.actor.name);
    let installation = said.data.object("installation").unwrap_or(&Value::Null);
    for (fact, value) in [
        ("status", installation.text("status")),
        ("installation", installation.text("uuid")),
        ("organization", installation.object("organization").and_then(|one| one.text("slug"))),
    ] {
        if let Some(value) = value {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    inbound
}

/// What a person did in a form that Sentry shows for the integration: linking an issue, trying an alert.
fn form(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    inbound.intent = Intent::Control;
    let issue_id = id(said.payload, "issueId");
    inbound.text = under("Somebody used a form of the integration", "");
    inbound.url = said.payload.text("webUrl").map(str::to_owned);
    if !issue_id.is_empty() {
        inbound.facts.insert("issue_id".to_owned(), json!(issue_id));
    }
    inbound.facts.insert("payload".to_owned(), trimmed(said.payload, &PRIVATE));
    inbound
}
