//! Issues of Sentry, and what is said about them.

use connector_api::{Inbound, Intent};
use serde_json::{Value, json};

use super::map::{Said, id};
use crate::foreign::Foreign;
use crate::words::{moment, title, under};

/// `issue`.
pub(super) fn issue(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let issue = said.data.object("issue").unwrap_or(&Value::Null);
    let issue_id = id(issue, "id");
    said.of_issue(&mut inbound, &issue_id, &called(issue));
    let head = match said.action {
        "created" => "Sentry has seen a new issue".to_owned(),
        action => format!("{} {} the issue", inbound.actor.name, action.replace('_', " ")),
    };
    let resolution = said.data.text("resolution_type").map(|how| format!(" ({})", title(how)));
    let head = format!("{head}{}", resolution.unwrap_or_default());
    inbound.text = under(&head, &described(issue));
    inbound.intent = if said.action == "created" { Intent::Work } else { Intent::Note };
    inbound.url = Said::first(issue, &["web_url", "permalink"]).map(str::to_owned);
    let seen = if said.action == "created" { "firstSeen" } else { "lastSeen" };
    inbound.at = moment(issue.text(seen)).filter(|_| said.action == "created");
    add_facts(&mut inbound, issue);
    if !issue_id.is_empty() {
        inbound.remote_id = Some(format!("issue:{issue_id}"));
        let status = issue.text("status").unwrap_or_default();
        let more = match said.action {
            "created" => String::new(),
            _ => format!(
                "{status}:{}:{}",
                issue.text("lastSeen").unwrap_or_default(),
                assignee(issue)
            ),
        };
        inbound.semantic_key = Some(said.semantic_key(&issue_id, &more));
    }
    inbound
}

/// `SHOP-4: TypeError: x is undefined`.
fn called(issue: &Value) -> String {
    let short_id = issue.text("shortId").unwrap_or("issue");
    format!("{short_id}: {}", issue.text("title").unwrap_or_default())
}

/// The issue as a few lines.
fn described(issue: &Value) -> String {
    let project = issue.object("project").and_then(|project| project.text("slug"));
    let lines = [
        ("", issue.text("title")),
        ("in ", issue.text("culprit")),
        ("level: ", issue.text("level")),
        ("status: ", issue.text("status")),
        ("project: ", project),
        ("platform: ", issue.text("platform")),
        ("seen so often: ", issue.text("count")),
    ];
    let line = |(name, value): (&str, Option<&str>)| Some(format!("{name}{}", value?.trim()));
    lines.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn assignee(issue: &Value) -> String {
    issue.object("assignedTo").map(|to| id(to, "id")).unwrap_or_default()
}

fn add_facts(inbound: &mut Inbound, issue: &Value) {
    for (fact, name) in [
        ("short_id", "shortId"),
        ("level", "level"),
        ("status", "status"),
        ("substatus", "substatus"),
        ("culprit", "culprit"),
        ("platform", "platform"),
        ("priority", "priority"),
        ("first_seen", "firstSeen"),
        ("last_seen", "lastSeen"),
    ] {
        if let Some(value) = issue.text(name) {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    if let Some(project) = issue.object("project").and_then(|project| project.text("slug")) {
        inbound.facts.insert("project".to_owned(), title(project).into());
    }
    if let Some(count) = issue.number("count") {
        inbound.facts.insert("count".to_owned(), count.into());
    }
}

/// `comment`.
pub(super) fn comment(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let issue_id = id(said.data, "issue_id");
    let comment_id = id(said.data, "comment_id");
    let project = said.data.text("project_slug").unwrap_or_default();
    said.of_issue(&mut inbound, &issue_id, &format!("{project}: issue {issue_id}"));
    let words = said.data.text("comment").unwrap_or_default();
    inbound.text = match said.action {
        "deleted" => format!("{} deleted a comment", inbound.actor.name),
        _ => under(words, ""),
    };
    inbound.at = moment(said.data.text("timestamp"));
    inbound.facts.insert("project".to_owned(), json!(title(project)));
    if !comment_id.is_empty() {
        inbound.remote_id = Some(format!("comment:{comment_id}"));
        let at = said.data.text("timestamp").unwrap_or_default();
        let more = if said.action == "updated" { said.digest() } else { at.to_owned() };
        inbound.semantic_key = Some(said.semantic_key(&comment_id, &more));
    }
    if said.action == "created" {
        // Two programs that answer each other would never end.
        inbound.intent = if inbound.actor.is_bot { Intent::Note } else { Intent::Work };
    } else {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    inbound
}
