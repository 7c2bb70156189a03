//! What OpenProject says, in the relay's words. What nobody knows yet is kept.

use connector_api::{Actor, Inbound, Intent};
use serde_json::{Map, Value};

use super::own::Own;
use super::receive::Base;
use super::{hal, map_comment, map_thing, map_work};
use crate::foreign::Foreign;
use crate::tag::body_key;
use crate::words::{title, trimmed};

/// What is said of a comment that only some may read.
const INTERNAL: &str = "work_package_comment:internal_comment";

/// One delivery, while it is read.
pub(super) struct Said<'a> {
    /// `work_package:updated`.
    pub(super) action: &'a str,
    /// The payload.
    pub(super) payload: &'a Value,
    /// Where the instance is.
    pub(super) base: &'a Base,
}

/// Reads a delivery. The same one always gives the same.
pub(super) fn inbound(own: &Own, base: &Base, payload: &Value) -> Inbound {
    let action = payload.text("action").unwrap_or("unknown");
    let said = Said { action, payload, base };
    if action == INTERNAL || said.thing("activity").is_set("internal") {
        return map_comment::internal(&said);
    }
    let sort = action.split(':').next().unwrap_or_default();
    let (mut inbound, raw) = match sort {
        "work_package" => map_work::work_package(&said),
        "work_package_comment" => map_comment::comment(&said),
        "project" => (map_thing::project(&said), ""),
        "time_entry" => map_thing::time_entry(&said),
        "attachment" => map_thing::attachment(&said),
        _ => (other(&said), ""),
    };
    if own.did(&inbound.actor.id, raw) {
        inbound.intent = Intent::Own;
    }
    inbound
}

impl<'a> Said<'a> {
    /// What every delivery has.
    pub(super) fn begin(&self) -> Inbound {
        let mut facts = Map::new();
        facts.insert("action".to_owned(), self.action.into());
        let mut address = Map::new();
        address.insert("host".to_owned(), self.base.host.as_str().into());
        Inbound {
            transport_key: body_key(self.payload.to_string().as_bytes()),
            event: self.action.to_owned(),
            thread_key: format!("op:{}", self.base.host),
            title: self.base.host.clone(),
            actor: self.actor(),
            url: Some(self.base.url.clone()),
            address,
            facts,
            ..Inbound::default()
        }
    }

    /// What the payload is about.
    pub(super) fn thing(&self, name: &str) -> &'a Value {
        self.payload.object(name).unwrap_or(&Value::Null)
    }

    /// Who did it, where OpenProject says so; older ones do not.
    fn actor(&self) -> Actor {
        let of_payload = self.payload.object("actor").and_then(|actor| {
            let name = title(actor.text("name").or(actor.text("login"))?);
            let id = actor.number("id").map_or_else(|| name.clone(), |id| id.to_string());
            Some(Actor { id, name, is_bot: false })
        });
        let nobody = || Actor { id: String::new(), name: "somebody".to_owned(), is_bot: false };
        of_payload.or_else(|| hal::person(self.payload, "actor")).unwrap_or_else(nobody)
    }

    /// Puts something in the thread of its work package, which can be answered.
    pub(super) fn of_work_package(&self, inbound: &mut Inbound, id: i64, subject: &str) {
        let Base { host, url } = self.base;
        inbound.thread_key = format!("op:{host}:wp:{id}");
        inbound.title = title(&format!("#{id}: {subject}"));
        inbound.url = Some(format!("{url}/work_packages/{id}"));
        inbound.address.insert("work_package".to_owned(), id.into());
        inbound.facts.insert("work_package".to_owned(), id.into());
    }
}

fn other(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let what = title(&said.action.replace([':', '_'], " "));
    inbound.text = format!("OpenProject says: {what}");
    inbound.title = format!("{}: {what}", said.base.host);
    inbound.thread_key = format!("op:{}:{}", said.base.host, said.action);
    inbound.facts.insert("payload".to_owned(), trimmed(said.payload, &["email", "login"]));
    inbound
}
