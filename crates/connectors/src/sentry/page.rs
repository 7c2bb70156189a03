//! What an issue at Sentry says, for a summary: what broke and where, without what people had in their
//! hands.

use connector_api::{ConnectorError, Page, Result};
use protocol::limits::outbound as limits;
use serde_json::Value;

use super::api::{Api, issue_of, judged, text_of};
use super::post::comments_of;
use crate::foreign::Foreign as _;
use crate::reading::Reading;

/// Frames of a stack that are shown, from where it broke.
const FRAMES_MAX: usize = 12;

/// Reads it.
pub(super) async fn read(api: &Api, url: &str) -> Result<Page> {
    let address = api.address_of(url).ok_or_else(|| ConnectorError::Refused {
        reason: format!("this is no page of an issue of {} at Sentry", api.organization()),
    })?;
    let id = issue_of(&address)?;
    let issue = judged(&api.get(&format!("issues/{id}/")).await?, "the issue")?;
    let mut reading = Reading::new(Page {
        title: issue.text("title").unwrap_or_default().to_owned(),
        url: issue.text("permalink").map_or_else(|| api.page_of(&id), str::to_owned),
        status: issue.text("status").unwrap_or_default().to_owned(),
        ..Page::default()
    });
    let project = issue.object("project").and_then(|project| project.text("slug"));
    for label in [issue.text("level"), issue.text("platform"), project].into_iter().flatten() {
        reading.label(label);
    }
    let latest = api.get(&format!("issues/{id}/events/latest/")).await?;
    let event = judged(&latest, "the newest event").unwrap_or_default();
    reading.body(&body(&issue, &event));
    let path = format!("{}?per_page={}", comments_of(&id), limits::PAGE_COMMENTS_MAX);
    let comments = judged(&api.get(&path).await?, "the comments")?;
    let comments = comments.as_array().map_or(&[][..], Vec::as_slice);
    for comment in comments.iter().rev() {
        let who = comment.object("user").and_then(|user| user.text("name"));
        reading.comment(who.unwrap_or("somebody"), text_of(comment));
    }
    let total = issue.number("numComments").and_then(|total| usize::try_from(total).ok());
    Ok(reading.finish(total.unwrap_or(comments.len())))
}

fn body(issue: &Value, event: &Value) -> String {
    let mut lines = Vec::new();
    let metadata = issue.object("metadata");
    if let Some(value) = metadata.and_then(|metadata| metadata.text("value")) {
        lines.push(value.to_owned());
    }
    if let Some(culprit) = issue.text("culprit") {
        lines.push(format!("In {culprit}"));
    }
    let times =
        issue.text("count").map(str::to_owned).or(issue.number("count").map(|n| n.to_string()));
    if let (Some(times), Some(first)) = (times, issue.text("firstSeen")) {
        lines.push(format!("Seen {times} times since {first}"));
    }
    for entry in
        event.list("entries").iter().filter(|entry| entry.text("type") == Some("exception"))
    {
        let data = entry.object("data").unwrap_or(&Value::Null);
        for exception in data.list("values") {
            let kind = exception.text("type").unwrap_or("Error");
            lines.push(format!("{kind}: {}", exception.text("value").unwrap_or_default()));
            let stack = exception.object("stacktrace").unwrap_or(&Value::Null);
            lines.extend(stack.list("frames").iter().rev().take(FRAMES_MAX).map(frame));
        }
    }
    lines.join("\n")
}

fn frame(frame: &Value) -> String {
    let file = frame.text("filename").or_else(|| frame.text("module")).unwrap_or("?");
    let line = frame.number("lineNo").or_else(|| frame.number("lineno"));
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("  at {} ({file}{line})", frame.text("function").unwrap_or("?"))
}
