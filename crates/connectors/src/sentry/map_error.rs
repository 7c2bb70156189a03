//! Single errors, as they happen or because a rule of an alert was met.

use connector_api::{Inbound, Intent};
use protocol::limits::inbound as limits;
use serde_json::Value;

use super::map::{Said, id};
use crate::foreign::{Foreign, moment_ms};
use crate::words::{moment, short, title, under};

/// `error` and `event_alert`; `field` is where the error stands.
pub(super) fn event(said: &Said<'_>, field: &str) -> Inbound {
    let mut inbound = said.begin();
    let event = said.data.object(field).unwrap_or(&Value::Null);
    let called = event.text("title").unwrap_or("an error");
    let issue_id = id(event, "issue_id");
    let event_id = id(event, "event_id");
    said.of_issue(&mut inbound, &issue_id, called);
    let rule = said.data.text("triggered_rule");
    let head = match rule {
        Some(rule) => format!("The alert “{}” was met", title(rule)),
        None => "An error happened".to_owned(),
    };
    inbound.text = under(&under(&head, &described(event)), &frames(event));
    inbound.intent = if said.resource == "event_alert" { Intent::Work } else { Intent::Note };
    inbound.url = Said::first(event, &["web_url", "permalink"]).map(str::to_owned);
    inbound.at = moment(event.text("datetime")).or_else(|| seconds(event));
    for (fact, value) in [
        ("event_id", Some(event_id.as_str())),
        ("rule", rule),
        ("level", event.text("level")),
        ("culprit", event.text("culprit")),
        ("platform", event.text("platform")),
        ("release", event.text("release")),
        ("environment", event.text("environment")),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    if !event_id.is_empty() {
        inbound.remote_id = Some(format!("event:{event_id}"));
        // Two rules may be met by one error, and each says so.
        let more = format!("{event_id}:{}", rule.unwrap_or_default());
        inbound.semantic_key = Some(said.semantic_key(&issue_id, &more));
    }
    inbound
}

/// `timestamp`, in seconds with a fraction.
fn seconds(event: &Value) -> Option<protocol::Timestamp> {
    let seconds =
        event.get("timestamp")?.as_f64().filter(|seconds| (0.0..1e11).contains(seconds))?;
    #[expect(clippy::cast_possible_truncation, reason = "it was held to a range that fits")]
    moment_ms((seconds * 1_000.0) as i64)
}

fn described(event: &Value) -> String {
    let message = event.text("message").filter(|message| Some(*message) != event.text("title"));
    let lines = [
        ("", event.text("title")),
        ("", message),
        ("in ", event.text("culprit")),
        ("level: ", event.text("level")),
        ("platform: ", event.text("platform")),
        ("release: ", event.text("release")),
        ("environment: ", event.text("environment")),
    ];
    let line = |(name, value): (&str, Option<&str>)| {
        Some(format!("{name}{}", short(value?.trim(), limits::FACT_CHARS_MAX)))
    };
    lines.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Where it happened: the exceptions and the latest lines of their stacks. What the variables held is
/// left out.
fn frames(event: &Value) -> String {
    let exceptions = event.object("exception").map(|all| all.list("values")).unwrap_or_default();
    let mut lines = Vec::new();
    for exception in exceptions.iter().rev().take(3) {
        let sort = exception.text("type").unwrap_or("exception");
        let value = short(exception.text("value").unwrap_or_default(), limits::FACT_CHARS_MAX);
        lines.push(format!("{}: {value}", title(sort)));
        let stack = exception.object("stacktrace").map(|stack| stack.list("frames"));
        let latest = stack.unwrap_or_default().iter().rev();
        lines.extend(latest.take(limits::NAMED_MAX).filter_map(frame));
    }
    lines.join("\n")
}

/// `at pay (src/cart.js:12)`.
fn frame(frame: &Value) -> Option<String> {
    let file = frame.text("filename").or(frame.text("module"))?;
    let line = frame.number("lineno").map(|line| format!(":{line}")).unwrap_or_default();
    let function = frame.text("function").unwrap_or("?");
    Some(format!("  at {} ({}{line})", title(function), title(file)))
}
