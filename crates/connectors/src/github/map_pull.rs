//! Pull requests, their reviews, and what is said about their lines.

use connector_api::{Inbound, Intent};
use serde_json::{Value, json};

use super::map::{Said, login, page};
use super::map_issue::{add_comment, add_facts, wording};
use crate::foreign::Foreign;
use crate::words::{moment, shown, title, under};

/// `pull_request`.
pub(super) fn pull_request(said: &Said<'_>) -> Inbound {
    let (mut inbound, pull) = begin(said);
    let name = title(pull.text("title").unwrap_or_default());
    let body = shown(pull.text("body").unwrap_or_default());
    let asks = matches!(said.action, "opened" | "ready_for_review" | "review_requested");
    let (about, more) = about(said);
    inbound.text = match said.action {
        "opened" => under(&format!("{name}\n{}", branches(pull)), &body),
        "closed" if pull.is_set("merged") => {
            format!("{} merged the pull request: {name}", inbound.actor.name)
        }
        "edited" => under(&said.sentence(&format!("the pull request: {name}")), &body),
        _ if asks => under(&said.sentence(&format!("the pull request{about}: {name}")), &body),
        _ => said.sentence(&format!("the pull request{about}: {name}")),
    };
    inbound.intent = if asks { Intent::Work } else { Intent::Note };
    inbound.at =
        moment(pull.text(if said.action == "opened" { "created_at" } else { "updated_at" }));
    inbound.remote_id = pull.number("id").map(|id| format!("pullrequest:{id}"));
    if said.action == "edited" {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    inbound.semantic_key = said.semantic_key(pull, &more);
    inbound
}

/// What every delivery about a pull request has.
fn begin<'a>(said: &Said<'a>) -> (Inbound, &'a Value) {
    let mut inbound = said.begin();
    let pull = said.payload.object("pull_request").unwrap_or(&Value::Null);
    said.numbered(&mut inbound, pull);
    add_facts(&mut inbound, pull);
    let reference = |side: &str| pull.object(side).and_then(|side| side.text("ref"));
    let sha = pull.object("head").and_then(|head| head.text("sha"));
    for (name, value) in [
        ("is_pull_request", json!(true)),
        ("draft", json!(pull.is_set("draft"))),
        ("merged", json!(pull.is_set("merged"))),
        ("head", json!(reference("head"))),
        ("base", json!(reference("base"))),
        ("sha", json!(sha)),
    ] {
        if !value.is_null() {
            inbound.facts.insert(name.to_owned(), value);
        }
    }
    (inbound, pull)
}

/// `feature into main`.
fn branches(pull: &Value) -> String {
    let name = |side: &str| {
        let side = pull.object(side);
        side.and_then(|side| side.text("label").or(side.text("ref"))).unwrap_or("?")
    };
    format!("({} into {})", name("head"), name("base"))
}

/// What an action is about, beside the pull request: for people, and to tell two actions apart.
fn about(said: &Said<'_>) -> (String, String) {
    let of = |thing: &str, name: &str| {
        let thing = said.payload.object(thing)?;
        Some((format!(" ({})", title(thing.text(name)?)), thing.number("id")?.to_string()))
    };
    match said.action {
        "labeled" | "unlabeled" => of("label", "name").unwrap_or_default(),
        "assigned" | "unassigned" => of("assignee", "login").unwrap_or_default(),
        "milestoned" | "demilestoned" => of("milestone", "title").unwrap_or_default(),
        "review_requested" | "review_request_removed" => of("requested_reviewer", "login")
            .or_else(|| of("requested_team", "name"))
            .unwrap_or_default(),
        "synchronize" => (String::new(), said.payload.text("after").unwrap_or_default().to_owned()),
        "edited" => (String::new(), wording(said.payload.object("pull_request"))),
        _ => Default::default(),
    }
}

/// `pull_request_review`.
pub(super) fn review(said: &Said<'_>) -> Inbound {
    let (mut inbound, _) = begin(said);
    let review = said.payload.object("review").unwrap_or(&Value::Null);
    let body = shown(review.text("body").unwrap_or_default());
    let state = review.text("state").unwrap_or_default().to_lowercase();
    let words = match (said.action, state.as_str()) {
        ("submitted", "approved") => "approved the pull request".to_owned(),
        ("submitted", "changes_requested") => "asks for changes".to_owned(),
        ("submitted", _) => "reviewed the pull request".to_owned(),
        (action, _) => format!("{} a review", action.replace('_', " ")),
    };
    inbound.text = under(&format!("{} {words}", inbound.actor.name), &body);
    inbound.facts.insert("review_state".to_owned(), state.as_str().into());
    inbound.url = page(review).or(inbound.url.take());
    inbound.at = moment(review.text("submitted_at"));
    inbound.remote_id = review.number("id").map(|id| format!("review:{id}"));
    // A review that says nothing itself is said by its comments, which come one by one.
    let says_something = !body.is_empty() || state != "commented";
    if said.action == "submitted" && says_something && !inbound.actor.is_bot {
        inbound.intent = Intent::Work;
    }
    if said.action != "submitted" {
        inbound.changes.clone_from(&inbound.remote_id);
    }
    inbound.semantic_key = said.semantic_key(review, &wording(Some(review)));
    inbound
}

/// `pull_request_review_comment`.
pub(super) fn review_comment(said: &Said<'_>) -> Inbound {
    let (mut inbound, _) = begin(said);
    let comment = said.payload.object("comment").unwrap_or(&Value::Null);
    add_comment(said, &mut inbound, "reviewcomment");
    let line = comment.number("line").or(comment.number("original_line"));
    if let Some(path) = comment.text("path") {
        let place = line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
        inbound.facts.insert("path".to_owned(), path.into());
        inbound.facts.insert("line".to_owned(), json!(line));
        if said.action != "deleted" {
            inbound.text = under(&format!("About {place}:"), &inbound.text);
        }
    }
    add_review_thread(&mut inbound, comment);
    inbound
}

/// An answer goes under the comment that the thread began with.
fn add_review_thread(inbound: &mut Inbound, comment: &Value) {
    if let Some(first) = comment.number("in_reply_to_id").or(comment.number("id")) {
        inbound.address.insert("review_comment".to_owned(), first.into());
    }
}

/// `pull_request_review_thread`.
pub(super) fn review_thread(said: &Said<'_>) -> Inbound {
    let (mut inbound, pull) = begin(said);
    let thread = said.payload.object("thread").unwrap_or(&Value::Null);
    let name = title(pull.text("title").unwrap_or_default());
    inbound.text = said.sentence(&format!("a thread of the review of: {name}"));
    if let Some(first) = thread.list("comments").first() {
        let by = login(first, "user").unwrap_or("ghost");
        let body = shown(first.text("body").unwrap_or_default());
        inbound.text = under(&inbound.text, &format!("{by}: {body}"));
        inbound.url = page(first).or(inbound.url.take());
        add_review_thread(&mut inbound, first);
        let at = said.payload.text("updated_at").or(first.text("updated_at")).unwrap_or_default();
        inbound.semantic_key = said.semantic_key(first, at);
    }
    inbound
}
