//! What GitHub says, in the relay's words. Nothing is refused: what nobody knows is kept whole.

use connector_api::{Actor, Inbound, Intent};
use serde_json::{Map, Value, json};

use super::own::Own;
use super::{map_code, map_issue, map_other, map_pull, map_talk};
use crate::foreign::Foreign;
use crate::words::{key, title};

/// One delivery, while it is read.
pub(super) struct Said<'a> {
    /// `issues`.
    pub(super) event: &'a str,
    /// `opened`; empty where the event has none.
    pub(super) action: &'a str,
    /// The payload.
    pub(super) payload: &'a Value,
    delivery_id: &'a str,
}

/// What reads an event.
type Mapper = fn(&Said<'_>) -> Inbound;

/// What reads an event that has fields of its own here; it asks for those alone.
fn mapper(event: &str) -> Option<Mapper> {
    Some(match event {
        "issues" => map_issue::issue,
        "issue_comment" => map_issue::comment,
        "pull_request" | "pull_request_target" => map_pull::pull_request,
        "pull_request_review" => map_pull::review,
        "pull_request_review_comment" => map_pull::review_comment,
        "pull_request_review_thread" => map_pull::review_thread,
        "push" => map_code::push,
        "check_run" => |said| map_code::check(said, "check_run"),
        "check_suite" => |said| map_code::check(said, "check_suite"),
        "workflow_run" => |said| map_code::check(said, "workflow_run"),
        "workflow_job" => |said| map_code::check(said, "workflow_job"),
        "status" => map_code::status,
        "deployment" | "deployment_status" => map_code::deployment,
        "create" | "delete" => map_code::reference,
        "discussion" | "discussion_comment" => map_talk::discussion,
        "commit_comment" => map_talk::commit_comment,
        "release" => map_talk::release,
        _ => return None,
    })
}

/// Whether an event is kept whole, because nothing here knows its fields.
pub(super) fn is_kept_whole(event: &str) -> bool {
    mapper(event).is_none()
}

/// Reads a delivery. The same one always gives the same.
pub(super) fn inbound(own: &Own, event: &str, delivery_id: &str, payload: &Value) -> Inbound {
    let action = payload.text("action").unwrap_or_default();
    let said = Said { event, action, payload, delivery_id };
    let mut inbound = mapper(event).unwrap_or(map_other::other)(&said);
    let thing = payload.object(thing_of(event)).unwrap_or(&Value::Null);
    if inbound.intent != Intent::Control && own.did(payload, thing) {
        inbound.intent = Intent::Own;
    }
    inbound
}

/// Where the payload of an event keeps what somebody wrote.
fn thing_of(event: &str) -> &str {
    match event {
        "issues" => "issue",
        "issue_comment"
        | "pull_request_review_comment"
        | "commit_comment"
        | "discussion_comment" => "comment",
        "pull_request_review" => "review",
        other => other,
    }
}

impl Said<'_> {
    /// What every delivery has: who, where, which.
    pub(super) fn begin(&self) -> Inbound {
        let event = match self.action {
            "" => self.event.to_owned(),
            action => format!("{}.{action}", self.event),
        };
        let mut address = Map::new();
        if let Some(repo) = self.repo() {
            address.insert("repo".to_owned(), repo.into());
        }
        let installation =
            self.payload.object("installation").and_then(|installation| installation.number("id"));
        if let Some(id) = installation {
            address.insert("installation".to_owned(), id.into());
        }
        Inbound {
            transport_key: self.delivery_id.to_owned(),
            event,
            thread_key: format!("github:{}", self.place()),
            title: self.place(),
            actor: self.actor(),
            url: self.repository().and_then(page),
            address,
            facts: self.facts(),
            ..Inbound::default()
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        facts.insert("event".to_owned(), self.event.into());
        if !self.action.is_empty() {
            facts.insert("action".to_owned(), self.action.into());
        }
        if let Some(repository) = self.repository() {
            facts.insert("repository".to_owned(), json!(repository.text("full_name")));
            facts.insert("private".to_owned(), json!(repository.is_set("private")));
        }
        facts
    }

    /// The repository.
    pub(super) fn repository(&self) -> Option<&Value> {
        self.payload.object("repository")
    }

    /// `acme/shop`.
    pub(super) fn repo(&self) -> Option<&str> {
        self.repository()?.text("full_name")
    }

    /// `acme/shop`, or whatever else the delivery belongs to.
    pub(super) fn place(&self) -> String {
        if let Some(repo) = self.repo() {
            return repo.to_owned();
        }
        let named = [
            ("organization", "login"),
            ("enterprise", "slug"),
            ("installation", "id"),
            ("marketplace_purchase", "id"),
            ("sponsorship", "node_id"),
        ];
        let name = named.into_iter().find_map(|(thing, name)| {
            let thing = self.payload.object(thing)?;
            let name = thing.text(name).map(str::to_owned);
            name.or_else(|| thing.number("id").map(|id| format!("installation/{id}")))
        });
        name.unwrap_or_else(|| self.event.to_owned())
    }

    fn actor(&self) -> Actor {
        let Some(sender) = self.payload.object("sender") else {
            let pusher = self.payload.object("pusher").and_then(|pusher| pusher.text("name"));
            let name = pusher.unwrap_or("GitHub").to_owned();
            return Actor { id: name.to_lowercase(), name, is_bot: pusher.is_none() };
        };
        let name = sender.text("login").unwrap_or("ghost").to_owned();
        let id = sender.number("id").map_or_else(|| name.clone(), |id| id.to_string());
        Actor { id, is_bot: sender.text("type") == Some("Bot") || name.ends_with("[bot]"), name }
    }

    /// Puts an issue, a pull request or a discussion in its thread.
    pub(super) fn numbered(&self, inbound: &mut Inbound, thing: &Value) {
        let Some(number) = thing.number("number") else { return };
        let name = format!("{}#{number}", self.place());
        inbound.thread_key = format!("github:{name}");
        inbound.title = title(&format!("{name}: {}", thing.text("title").unwrap_or_default()));
        inbound.address.insert("number".to_owned(), number.into());
        inbound.facts.insert("number".to_owned(), number.into());
        inbound.url = page(thing).or(inbound.url.take());
    }

    /// What happened to a thing, whichever webhook says it: which thing, and when it last changed.
    /// What is made is made once; what is changed is changed at a moment, to something.
    pub(super) fn semantic_key(&self, thing: &Value, more: &str) -> Option<String> {
        let id = thing.number("id")?.to_string();
        let name = format!("{}.{}", self.event, self.action);
        if matches!(self.action, "created" | "opened" | "submitted" | "deleted") {
            return Some(key([&name, &id, more]));
        }
        let at = thing.text("updated_at").unwrap_or_default();
        Some(key([&name, &id, at, more]))
    }

    /// `anna labeled acme/shop#12`: the delivery as a sentence.
    pub(super) fn sentence(&self, what: &str) -> String {
        let who = self.actor().name;
        format!("{who} {} {what}", verb(self.action))
    }
}

/// What somebody did, as a verb.
fn verb(action: &str) -> String {
    let known = match action {
        "" => "did something with",
        "synchronize" => "pushed to",
        "review_requested" => "asked for a review of",
        "review_request_removed" => "no longer asks for a review of",
        "ready_for_review" => "marked as ready for review",
        "converted_to_draft" => "turned back into a draft",
        "auto_merge_enabled" => "turned on auto-merge of",
        "auto_merge_disabled" => "turned off auto-merge of",
        "milestoned" => "put in a milestone",
        "demilestoned" => "took out of its milestone",
        other => return other.replace('_', " "),
    };
    known.to_owned()
}

/// Where a person finds something.
pub(super) fn page(thing: &Value) -> Option<String> {
    thing.text("html_url").map(str::to_owned)
}

/// The login of whoever a field names.
pub(super) fn login<'a>(thing: &'a Value, field: &str) -> Option<&'a str> {
    thing.object(field)?.text("login")
}

/// The names of a list of things.
pub(super) fn names(thing: &Value, list: &str, field: &str) -> Vec<String> {
    let named = thing.list(list).iter().filter_map(|one| one.text(field));
    named.take(protocol::limits::inbound::NAMED_MAX).map(str::to_owned).collect()
}
