//! Alerts on numbers and activity, what Sentry's own agent found, and whatever is added one day.

use connector_api::{Inbound, Intent};
use serde_json::{Value, json};

use super::map::{PRIVATE, Said, id};
use crate::foreign::Foreign;
use crate::words::{moment, title, trimmed, under};

/// `metric_alert`.
pub(super) fn metric(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let alert = said.data.object("metric_alert").unwrap_or(&Value::Null);
    let alert_id = id(alert, "id");
    let rule = alert.object("alert_rule").and_then(|rule| rule.text("name"));
    let called = said.data.text("description_title").or(alert.text("title")).or(rule);
    let called = called.unwrap_or("an alert");
    said.apart(&mut inbound, "metric", &alert_id, called);
    let words = said.data.text("description_text").unwrap_or_default();
    inbound.text = under(&title(called), words);
    inbound.url = said.data.text("web_url").map(str::to_owned);
    if matches!(said.action, "critical" | "warning") {
        inbound.intent = Intent::Work;
    }
    let ended = if said.action == "resolved" { "date_closed" } else { "date_detected" };
    inbound.at = moment(alert.text(ended));
    for (fact, value) in [
        ("rule", rule),
        ("identifier", alert.text("identifier")),
        ("started", alert.text("date_started")),
        ("closed", alert.text("date_closed")),
    ] {
        if let Some(value) = value {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    let projects: Vec<&str> = alert.list("projects").iter().filter_map(Value::as_str).collect();
    if !projects.is_empty() {
        inbound.facts.insert("projects".to_owned(), json!(projects));
    }
    inbound.remote_id = Some(format!("metricalert:{alert_id}"));
    inbound.semantic_key = Some(said.semantic_key(&alert_id, &said.digest()));
    inbound
}

/// `activity_alert`, `seer`, `preprod_artifact`, and what nobody knows yet.
pub(super) fn other(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let what = format!("{} {}", said.resource, said.action).replace(['_', '.'], " ");
    let what = title(&what);
    let issue_id = issue_id(said.data);
    if issue_id.is_empty() {
        let run = id(said.data, "run_id");
        let own_id = if run.is_empty() { said.action.to_owned() } else { run };
        said.apart(&mut inbound, said.resource, &own_id, &what);
    } else {
        let called = said.data.object("issue").and_then(|issue| issue.text("title"));
        said.of_issue(
            &mut inbound,
            &issue_id,
            called.unwrap_or(&format!("Sentry issue {issue_id}")),
        );
    }
    inbound.text = under(&format!("Sentry says: {what}"), &words(said.data).join("\n\n"));
    inbound.url = Said::first(said.data, &["web_url", "permalink", "url"]).map(str::to_owned);
    inbound.url = inbound.url.or_else(|| {
        let issue = said.data.object("issue")?;
        Said::first(issue, &["web_url", "permalink"]).map(str::to_owned)
    });
    inbound.facts.insert("payload".to_owned(), trimmed(said.data, &PRIVATE));
    inbound.semantic_key = Some(said.semantic_key(&issue_id, &said.digest()));
    inbound
}

/// The issue that a delivery concerns, wherever it names it.
fn issue_id(data: &Value) -> String {
    let within = |thing: &str, name: &str| data.object(thing).map(|thing| id(thing, name));
    let found = [
        Some(id(data, "group_id")),
        Some(id(data, "issue_id")),
        within("issue", "id"),
        within("group", "id"),
        within("event", "issue_id"),
        within("error", "issue_id"),
        within("activity", "issue_id"),
    ];
    found.into_iter().flatten().find(|id| !id.is_empty()).unwrap_or_default()
}

/// What reads as sentences in data of any shape: a cause that was found, a solution, the address of a
/// pull request.
fn words(data: &Value) -> Vec<String> {
    const TELLING: [&str; 10] = [
        "title",
        "one_line_description",
        "summary",
        "description",
        "relevant_code_file",
        "reproduction",
        "message",
        "text",
        "pr_url",
        "body",
    ];
    let mut found = Vec::new();
    collect(data, &TELLING, 0, &mut found);
    found
}

fn collect(value: &Value, telling: &[&str], depth: usize, found: &mut Vec<String>) {
    use protocol::limits::inbound::{FACTS_DEPTH_MAX, NAMED_MAX};
    if depth > FACTS_DEPTH_MAX || found.len() >= NAMED_MAX {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                match inner {
                    Value::String(text) if telling.contains(&name.as_str()) && !text.is_empty() => {
                        if found.len() < NAMED_MAX && !found.contains(text) {
                            found.push(text.clone());
                        }
                    }
                    _ if PRIVATE.contains(&name.as_str()) => {}
                    _ => collect(inner, telling, depth + 1, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|one| collect(one, telling, depth + 1, found)),
        _ => {}
    }
}
