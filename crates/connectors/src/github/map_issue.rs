//! Issues, and what is said about them. Comments on pull requests come here too.

use connector_api::{Inbound, Intent};
use serde_json::{Value, json};

use super::map::{Said, login, names, page};
use crate::foreign::Foreign;
use crate::tag::body_key;
use crate::words::{moment, shown, title, under};

/// `issues`.
pub(super) fn issue(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let issue = said.payload.object("issue").unwrap_or(&Value::Null);
    said.numbered(&mut inbound, issue);
    add_facts(&mut inbound, issue);
    let name = title(issue.text("title").unwrap_or_default());
    let body = shown(issue.text("body").unwrap_or_default());
    let asks = matches!(said.action, "opened" | "reopened" | "assigned");
    let (about, more) = about(said);
    inbound.text = match said.action {
        "opened" => under(&name, &body),
        "edited" => under(&said.sentence(&format!("the issue: {name}")), &body),
        _ if asks => under(&said.sentence(&format!("the issue{about}: {name}")), &body),
        _ => said.sentence(&format!("the issue{about}: {name}")),
    };
    inbound.intent = if asks { Intent::Work } else { Intent::Note };
    inbound.at =
        moment(issue.text(if said.action == "opened" { "created_at" } else { "updated_at" }));
    inbound.remote_id = issue.number("id").map(|id| format!("issue:{id}"));
    if matches!(said.action, "edited" | "deleted") {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    inbound.semantic_key = said.semantic_key(issue, &more);
    inbound
}

/// What an action is about, beside the issue: for people, and to tell two actions apart.
fn about(said: &Said<'_>) -> (String, String) {
    let payload = said.payload;
    let of = |thing: &str, name: &str| {
        let thing = payload.object(thing)?;
        Some((format!(" ({})", title(thing.text(name)?)), thing.number("id")?.to_string()))
    };
    match said.action {
        "labeled" | "unlabeled" => of("label", "name").unwrap_or_default(),
        "assigned" | "unassigned" => of("assignee", "login").unwrap_or_default(),
        "milestoned" | "demilestoned" => of("milestone", "title").unwrap_or_default(),
        "edited" => (String::new(), wording(payload.object("issue"))),
        _ => Default::default(),
    }
}

/// Tells two wordings of the same thing apart.
pub(super) fn wording(thing: Option<&Value>) -> String {
    let text = |name| thing.and_then(|thing| thing.text(name)).unwrap_or_default();
    let digest = body_key(format!("{}\n{}", text("title"), text("body")).as_bytes());
    digest.chars().skip("sha256:".len()).take(16).collect()
}

/// How an issue or a pull request stands.
pub(super) fn add_facts(inbound: &mut Inbound, thing: &Value) {
    let facts = &mut inbound.facts;
    for (name, value) in [
        ("state", json!(thing.text("state"))),
        ("state_reason", json!(thing.text("state_reason"))),
        ("author", json!(login(thing, "user"))),
        ("author_association", json!(thing.text("author_association"))),
        ("labels", json!(names(thing, "labels", "name"))),
        ("assignees", json!(names(thing, "assignees", "login"))),
    ] {
        if !value.is_null() && value != json!([]) {
            facts.insert(name.to_owned(), value);
        }
    }
}

/// `issue_comment`.
pub(super) fn comment(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let issue = said.payload.object("issue").unwrap_or(&Value::Null);
    said.numbered(&mut inbound, issue);
    add_facts(&mut inbound, issue);
    inbound.facts.insert("is_pull_request".to_owned(), issue.get("pull_request").is_some().into());
    add_comment(said, &mut inbound, "issuecomment");
    inbound
}

/// Fills in what somebody wrote: a comment of any sort, in `comment`.
pub(super) fn add_comment(said: &Said<'_>, inbound: &mut Inbound, sort: &str) {
    let comment = said.payload.object("comment").unwrap_or(&Value::Null);
    let body = shown(comment.text("body").unwrap_or_default());
    inbound.text = match said.action {
        "deleted" => said.sentence("a comment"),
        _ => under(&body, ""),
    };
    inbound.url = page(comment).or(inbound.url.take());
    inbound.remote_id = comment.number("id").map(|id| format!("{sort}:{id}"));
    if said.action == "created" {
        // Two programs that answer each other would never end.
        inbound.intent = if inbound.actor.is_bot { Intent::Note } else { Intent::Work };
        inbound.at = moment(comment.text("created_at"));
    } else {
        inbound.changes.clone_from(&inbound.remote_id);
        inbound.at = moment(comment.text("updated_at"));
    }
    if let Some(association) = comment.text("author_association") {
        inbound.facts.insert("author_association".to_owned(), association.into());
    }
    let more = if said.action == "edited" { wording(Some(comment)) } else { String::new() };
    inbound.semantic_key = said.semantic_key(comment, &more);
}
