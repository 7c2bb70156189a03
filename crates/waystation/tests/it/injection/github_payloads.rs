//! What GitHub says when a stranger has written something anywhere in a repository.

use serde_json::{Map, Value, json};
use testkit::fakes::github::INSTALLATION_ID;

use super::texts::hostile;

/// An event, and its payload with hostile text wherever a stranger can put it.
pub(crate) fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("issues", event("issues", "opened", &[("issue", thing(12, "issues"))])),
        ("issue_comment", event("issue_comment", "created", &[issue(), comment(501)])),
        ("pull_request", event("pull_request", "opened", &[pull()])),
        ("pull_request_review", event("review", "submitted", &[pull(), review()])),
        (
            "pull_request_review_comment",
            event("review_comment", "created", &[pull(), comment(502)]),
        ),
        ("discussion", event("discussion", "created", &[discussion()])),
        (
            "discussion_comment",
            event("discussion_comment", "created", &[discussion(), comment(503)]),
        ),
        ("commit_comment", event("commit_comment", "created", &[comment(504)])),
        ("release", event("release", "published", &[release()])),
        ("push", push()),
        ("check_run", event("check_run", "completed", &[check_run()])),
        ("workflow_run", event("workflow_run", "completed", &[workflow_run()])),
        (
            "label",
            event("label", "created", &[("label", json!({ "id": 1, "name": hostile("label") }))]),
        ),
        ("nobody_knows_this", event("nobody_knows_this", "happened", &[issue()])),
    ]
}

fn event(way: &str, action: &str, things: &[(&str, Value)]) -> Value {
    let mut payload = Map::from_iter([
        ("action".to_owned(), json!(action)),
        ("repository".to_owned(), repository()),
        (
            "sender".to_owned(),
            json!({ "login": format!("mallory-{way}"), "id": 6, "type": "User" }),
        ),
        ("installation".to_owned(), json!({ "id": INSTALLATION_ID })),
    ]);
    payload.extend(things.iter().map(|(name, thing)| ((*name).to_owned(), thing.clone())));
    Value::Object(payload)
}

fn repository() -> Value {
    json!({ "full_name": "acme/shop", "id": 9, "html_url": "https://github.com/acme/shop" })
}

fn thing(number: i64, sort: &str) -> Value {
    json!({
        "id": 9_000 + number, "number": number, "node_id": format!("N_{number}"), "state": "open",
        "title": hostile(sort), "body": hostile(sort),
        "html_url": format!("https://github.com/acme/shop/{sort}/{number}"),
        "user": { "login": "mallory", "id": 6, "type": "User" },
        "labels": [{ "name": hostile("a label") }],
        "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
    })
}

fn issue() -> (&'static str, Value) {
    ("issue", thing(12, "issues"))
}

fn pull() -> (&'static str, Value) {
    let mut pull = thing(13, "pull");
    pull["head"] =
        json!({ "ref": hostile("a branch"), "sha": "0123456789abcdef0123456789abcdef01234567" });
    pull["base"] = json!({ "ref": "main" });
    ("pull_request", pull)
}

fn discussion() -> (&'static str, Value) {
    ("discussion", thing(14, "discussions"))
}

fn comment(id: i64) -> (&'static str, Value) {
    let comment = json!({
        "id": id, "node_id": format!("C_{id}"), "body": hostile("a comment"), "path": hostile("a path"),
        "commit_id": "0123456789abcdef0123456789abcdef01234567",
        "html_url": format!("https://github.com/acme/shop/issues/12#issuecomment-{id}"),
        "user": { "login": "mallory", "id": 6, "type": "User" },
        "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
    });
    ("comment", comment)
}

fn review() -> (&'static str, Value) {
    let review = json!({
        "id": 601, "body": hostile("a review"), "state": "approved",
        "html_url": "https://github.com/acme/shop/pull/13#pullrequestreview-601",
        "user": { "login": "mallory", "id": 6, "type": "User" },
        "submitted_at": "2026-02-17T12:00:00Z",
    });
    ("review", review)
}

fn release() -> (&'static str, Value) {
    let release = json!({
        "id": 602, "tag_name": hostile("a tag"), "name": hostile("a release"),
        "body": hostile("a release"), "html_url": "https://github.com/acme/shop/releases/1",
        "published_at": "2026-02-17T12:00:00Z",
    });
    ("release", release)
}

fn push() -> Value {
    let mut push = event("push", "", &[]);
    push["ref"] = json!(format!("refs/heads/{}", hostile("a branch")));
    push["commits"] = json!([{ "id": "0123456", "message": hostile("a commit"), "author": { "name": hostile("a name") } }]);
    push["compare"] = json!("https://github.com/acme/shop/compare/a...b");
    push
}

fn check_run() -> (&'static str, Value) {
    let run = json!({
        "id": 603, "name": hostile("a check"), "conclusion": "failure", "status": "completed",
        "head_sha": "0123456789abcdef0123456789abcdef01234567", "pull_requests": [],
        "output": { "title": hostile("an output"), "summary": hostile("an output") },
        "html_url": "https://github.com/acme/shop/runs/603",
    });
    ("check_run", run)
}

fn workflow_run() -> (&'static str, Value) {
    let run = json!({
        "id": 604, "name": hostile("a workflow"), "conclusion": "failure", "status": "completed",
        "head_branch": hostile("a branch"), "head_sha": "0123456789abcdef0123456789abcdef01234567",
        "pull_requests": [], "html_url": "https://github.com/acme/shop/actions/runs/604",
    });
    ("workflow_run", run)
}
