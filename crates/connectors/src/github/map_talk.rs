//! Talk that is not about an issue: discussions, comments on commits, releases.

use connector_api::{Inbound, Intent};
use serde_json::Value;

use super::map::{Said, page};
use super::map_issue::{add_comment, wording};
use crate::foreign::Foreign;
use crate::words::{moment, shown, title, under};

/// `discussion` and `discussion_comment`.
pub(super) fn discussion(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let discussion = said.payload.object("discussion").unwrap_or(&Value::Null);
    let number = discussion.number("number").unwrap_or_default();
    said.numbered(&mut inbound, discussion);
    // An issue's number would be answered at another place.
    inbound.address.remove("number");
    inbound.thread_key = format!("github:{}:discussion:{number}", said.place());
    inbound.address.insert("discussion".to_owned(), number.into());
    if let Some(node) = discussion.text("node_id") {
        inbound.address.insert("discussion_node".to_owned(), node.into());
    }
    if said.event == "discussion_comment" {
        add_comment(said, &mut inbound, "discussioncomment");
        let comment = said.payload.object("comment").unwrap_or(&Value::Null);
        // An answer goes beneath what was said, wherever in the talk that stands.
        if let Some(node) = comment.text("node_id") {
            inbound.address.insert("comment_node".to_owned(), node.into());
        }
        return inbound;
    }
    let name = title(discussion.text("title").unwrap_or_default());
    let body = shown(discussion.text("body").unwrap_or_default());
    inbound.text = match said.action {
        "created" => under(&name, &body),
        "edited" => under(&said.sentence(&format!("the discussion: {name}")), &body),
        _ => said.sentence(&format!("the discussion: {name}")),
    };
    inbound.at = moment(discussion.text("updated_at"));
    inbound.remote_id = discussion.number("id").map(|id| format!("discussion:{id}"));
    if matches!(said.action, "edited" | "deleted") {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    if said.action == "created" && !inbound.actor.is_bot {
        inbound.intent = Intent::Work;
    }
    let label = said.payload.object("label").and_then(|label| label.number("id"));
    let more = label.map_or_else(|| wording(Some(discussion)), |label| label.to_string());
    inbound.semantic_key = said.semantic_key(discussion, &more);
    inbound
}

/// `commit_comment`.
pub(super) fn commit_comment(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let comment = said.payload.object("comment").unwrap_or(&Value::Null);
    let sha = comment.text("commit_id").unwrap_or_default();
    let short_sha: String = sha.chars().take(7).collect();
    inbound.thread_key = format!("github:{}@{sha}", said.place());
    inbound.title = format!("{}@{short_sha}", said.place());
    inbound.address.insert("commit".to_owned(), sha.into());
    inbound.facts.insert("sha".to_owned(), sha.into());
    add_comment(said, &mut inbound, "commitcomment");
    inbound.intent = Intent::Note;
    inbound
}

/// `release`.
pub(super) fn release(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let release = said.payload.object("release").unwrap_or(&Value::Null);
    let tag = release.text("tag_name").unwrap_or_default();
    let name = title(release.text("name").unwrap_or(tag));
    inbound.thread_key = format!("github:{}:release:{tag}", said.place());
    inbound.title = title(&format!("{} {tag}", said.place()));
    let body = shown(release.text("body").unwrap_or_default());
    inbound.text = under(&said.sentence(&format!("the release {name}")), &body);
    inbound.url = page(release).or(inbound.url.take());
    inbound.at = moment(release.text("published_at").or(release.text("created_at")));
    inbound.facts.insert("tag".to_owned(), title(tag).into());
    inbound.facts.insert("prerelease".to_owned(), release.is_set("prerelease").into());
    inbound.remote_id = release.number("id").map(|id| format!("release:{id}"));
    if matches!(said.action, "edited" | "deleted" | "unpublished") {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    let at = release.text("updated_at").unwrap_or_default();
    inbound.semantic_key = said.semantic_key(release, &format!("{at}{}", wording(Some(release))));
    inbound
}
