//! Everything else that GitHub says, now and in years: kept whole, with a sentence for people.

use connector_api::{Inbound, Intent};
use serde_json::Value;

use super::map::{Said, page};
use crate::foreign::Foreign;
use crate::words::{moment, shown, title, trimmed, under};

/// Events about the link itself.
const CONTROL: [&str; 8] = [
    "ping",
    "meta",
    "installation",
    "installation_repositories",
    "installation_target",
    "github_app_authorization",
    "marketplace_purchase",
    "personal_access_token_request",
];
/// Fields of a payload that are about the delivery, not about what happened.
const AROUND: [&str; 8] = [
    "repository",
    "organization",
    "sender",
    "installation",
    "enterprise",
    "changes",
    "action",
    "hook",
];

/// Any event.
pub(super) fn other(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let (name, thing) = thing(said.payload).unwrap_or((said.event, &Value::Null));
    let what = said.event.replace('_', " ");
    let called = ["title", "name", "full_name", "login", "slug", "tag_name", "key", "summary"]
        .into_iter()
        .find_map(|field| thing.text(field))
        .map(|called| format!(" “{}”", title(called)))
        .unwrap_or_default();
    let verb = said.action.replace('_', " ");
    let head = match (said.event, verb.as_str()) {
        ("ping", _) => {
            let zen = said.payload.text("zen").unwrap_or_default();
            format!("GitHub reaches the hub: {}", title(zen))
        }
        (_, "") => format!("{} in {}{called}, by {}", what, said.place(), inbound.actor.name),
        (_, verb) => {
            format!("{what} {verb}{called} in {}, by {}", said.place(), inbound.actor.name)
        }
    };
    let body = thing.text("body").or(thing.text("description")).unwrap_or_default();
    inbound.text = under(&head, &shown(body));
    inbound.intent = if CONTROL.contains(&said.event) { Intent::Control } else { Intent::Note };
    inbound.url = page(thing).or(inbound.url.take());
    inbound.at = moment(thing.text("updated_at").or(thing.text("created_at")));
    if let (Some(number), true) = (thing.number("number"), said.repo().is_some()) {
        // Numbers of a repository are shared by what can be answered; those of alerts are not.
        inbound.thread_key = format!("github:{}:{}:{number}", said.place(), said.event);
        inbound.title = title(&format!("{} {what} {number}", said.place()));
    }
    if let Some(id) = thing.number("id") {
        inbound.remote_id = Some(format!("{name}:{id}"));
    }
    inbound.facts.insert("payload".to_owned(), trimmed(said.payload, &[]));
    inbound
}

/// What the payload is about: named as the event, or the first object that is not around it.
fn thing(payload: &Value) -> Option<(&str, &Value)> {
    let mut fields = payload.as_object()?.iter();
    let (name, value) =
        fields.find(|(name, value)| value.is_object() && !AROUND.contains(&name.as_str()))?;
    Some((name, value))
}
