//! A fake of Sentry: issues with their comments, limits, and webhooks that are signed and never sent
//! again.

use std::sync::Arc;

use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use parking_lot::Mutex;
use ring::hmac;
use serde_json::{Value, json};

use super::FakeServer;
use super::calling::{Answered, headers as spelled, post, tag, this_second};
use super::trouble::{Hiding, Trouble};

/// The token of the fake's integration.
pub const TOKEN: &str = "sntrys_fake";
/// What the fake signs with.
pub const CLIENT_SECRET: &str = "a-secret-of-sentry's";
/// The installation of the fake's integration, for which it calls a hub.
pub const INSTALLATION: &str = "7a485448-a9e2-4c85-8a3c-4f44175783c9";
/// The integration itself, as it stands for whoever does something.
pub const INTEGRATION: &str = "f0f1a1c2-0000-4000-8000-00000000a001";
/// Another one, installed beside it.
pub const OTHER_INTEGRATION: &str = "f0f1a1c2-0000-4000-8000-00000000b002";
/// The organization.
pub const ORGANIZATION: &str = "acme";

/// A running fake.
#[derive(Debug)]
pub struct SentryFake {
    server: FakeServer,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    trouble: Trouble,
}

#[derive(Debug, Default)]
struct State {
    issues: Vec<Value>,
    comments: Vec<Comment>,
    requests: Vec<String>,
    writes_left: Option<u32>,
    next_id: u64,
}

#[derive(Clone, Debug)]
struct Comment {
    id: String,
    issue: String,
    text: String,
    who: String,
    hiding: Hiding,
}

impl SentryFake {
    /// Starts it, with nothing in it yet.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let organization = "/api/0/organizations/{organization}";
        let routes = Router::new()
            .route(&format!("{organization}/"), get(self::organization))
            .route(&format!("{organization}/sentry-app-installations/"), get(installations))
            .route(&format!("{organization}/issues/"), get(issues))
            .route(&format!("{organization}/issues/{{id}}/"), get(issue))
            .route(&format!("{organization}/issues/{{id}}/events/latest/"), get(latest))
            .route(
                &format!("{organization}/issues/{{id}}/comments/"),
                get(comments).post(add_comment),
            )
            .route(&format!("{organization}/issues/{{id}}/comments/{{note}}/"), put(change_comment))
            .with_state(Arc::clone(&shared));
        Self { server: FakeServer::start(routes).await, shared }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What goes wrong at it.
    pub fn trouble(&self) -> &Trouble {
        &self.shared.trouble
    }

    /// Adds an issue.
    pub fn add_issue(&self, id: &str, title: &str) {
        let issue = json!({
            "id": id, "shortId": format!("SHOP-{id}"), "title": title, "culprit": "shop.cart in add",
            "level": "error", "status": "unresolved", "platform": "python", "count": "3",
            "project": {"id": "1", "slug": "shop", "name": "shop"},
            "metadata": {"type": "ValueError", "value": title},
            "firstSeen": "2026-02-17T12:00:00Z", "lastSeen": "2026-02-17T12:00:00Z",
            "permalink": format!("https://acme.sentry.io/issues/{id}/"),
        });
        self.shared.state.lock().issues.push(issue);
    }

    /// The comments that were made through the API: issue and text.
    pub fn posted(&self) -> Vec<(String, String)> {
        let state = self.shared.state.lock();
        state.comments.iter().map(|one| (one.issue.clone(), one.text.clone())).collect()
    }

    /// Lets so many writes through, then asks for patience; `None` lifts it.
    pub fn limit_writes(&self, writes: Option<u32>) {
        self.shared.state.lock().writes_left = writes;
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state.lock().requests.clone()
    }

    /// The headers of a delivery; `attempt` makes an id of its own, as Sentry does each time.
    pub fn signed(resource: &str, attempt: u32, body: &[u8]) -> Vec<(String, String)> {
        spelled([
            ("content-type", "application/json".to_owned()),
            ("request-id", format!("{:032x}", u64::from(attempt) + 0xace0)),
            ("sentry-hook-resource", resource.to_owned()),
            ("sentry-hook-timestamp", this_second().to_string()),
            ("sentry-hook-signature", tag(hmac::HMAC_SHA256, CLIENT_SECRET, body)),
        ])
    }

    /// Delivers an event to a hub so many times, each with an id of its own.
    pub async fn deliver(
        &self,
        to: &str,
        resource: &str,
        payload: &Value,
        times: u32,
    ) -> Vec<Answered> {
        let body = payload.to_string().into_bytes();
        let mut answers = Vec::new();
        for attempt in 0..times {
            answers.push(post(to, &Self::signed(resource, attempt, &body), &body).await);
        }
        answers
    }

    /// A payload that tells of an issue, in Sentry's own shape.
    pub fn issue_event(&self, id: &str, action: &str) -> Value {
        let state = self.shared.state.lock();
        let issue = state.issues.iter().find(|one| one["id"] == id).cloned().unwrap_or_default();
        json!({
            "action": action, "installation": {"uuid": INSTALLATION},
            "data": {"issue": issue}, "actor": {"type": "application", "id": "sentry", "name": "Sentry"},
        })
    }

    /// A payload that tells of a comment, by whoever is named: Sentry calls back for the hub's own, too.
    pub fn comment_event(&self, issue: &str, id: u64, text: &str, actor: &Value) -> Value {
        json!({
            "action": "created", "installation": {"uuid": INSTALLATION}, "actor": actor,
            "data": {
                "issue_id": issue, "comment_id": id, "project_slug": "shop", "comment": text,
                "timestamp": "2026-02-17T12:00:00Z",
            },
        })
    }
}

/// Answers whoever has the token and names the organization.
fn answered(
    shared: &Shared,
    headers: &HeaderMap,
    organization: &str,
    what: &str,
    answer: impl FnOnce(&mut State) -> Response,
) -> Response {
    let mut state = shared.state.lock();
    state.requests.push(what.to_owned());
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    let bearer = headers.get("authorization").and_then(|value| value.to_str().ok());
    if bearer != Some(&format!("Bearer {TOKEN}")) {
        let body = json!({"detail": "Invalid token"}).to_string();
        return (StatusCode::UNAUTHORIZED, body).into_response();
    }
    if organization != ORGANIZATION {
        return not_found();
    }
    answer(&mut state)
}

fn not_found() -> Response {
    let body = json!({"detail": "The requested resource does not exist"}).to_string();
    (StatusCode::NOT_FOUND, body).into_response()
}

async fn organization(
    Extract(shared): Extract<Arc<Shared>>,
    Path(organization): Path<String>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET organization", |_| {
        json!({"id": "1", "slug": ORGANIZATION, "name": "Acme"}).to_string().into_response()
    })
}

async fn installations(
    Extract(shared): Extract<Arc<Shared>>,
    Path(organization): Path<String>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET installations", |_| {
        let installed = |uuid: &str, app: &str, slug: &str| {
            json!({
                "uuid": uuid, "status": "installed", "organization": {"slug": ORGANIZATION},
                "app": {"uuid": app, "slug": slug},
            })
        };
        let other = installed("11111111-0000-4000-8000-000000000000", OTHER_INTEGRATION, "other");
        json!([other, installed(INSTALLATION, INTEGRATION, "waystation")])
            .to_string()
            .into_response()
    })
}

async fn issues(
    Extract(shared): Extract<Arc<Shared>>,
    Path(organization): Path<String>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET issues", |state| {
        let newest: Vec<&Value> = state.issues.iter().rev().collect();
        let link = "<http://next>; rel=\"next\"; results=\"false\"; cursor=\"0:100:0\"";
        ([("link", link)], json!(newest).to_string()).into_response()
    })
}

async fn issue(
    Extract(shared): Extract<Arc<Shared>>,
    Path((organization, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET issue", |state| {
        match state.issues.iter().find(|one| one["id"] == id) {
            Some(issue) => issue.to_string().into_response(),
            None => not_found(),
        }
    })
}

async fn latest(
    Extract(shared): Extract<Arc<Shared>>,
    Path((organization, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET latest event", |_| {
        let frames = json!([
            {"filename": "shop/main.py", "lineNo": 3, "function": "main", "vars": {"card": "4111"}},
            {"filename": "shop/cart.py", "lineNo": 42, "function": "add", "vars": {"card": "4111"}},
        ]);
        let values =
            json!([{"type": "ValueError", "value": "no price", "stacktrace": {"frames": frames}}]);
        let entries = json!([{"type": "exception", "data": {"values": values}}]);
        json!({"id": "e1", "groupID": id, "entries": entries}).to_string().into_response()
    })
}

async fn comments(
    Extract(shared): Extract<Arc<Shared>>,
    Path((organization, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, &organization, "GET comments", |state| {
        let mut listed = Vec::new();
        for comment in state.comments.iter_mut().rev().filter(|one| one.issue == id) {
            if shared.trouble.is_listed(&mut comment.hiding) {
                listed.push(comment.spelled());
            }
        }
        Value::Array(listed).to_string().into_response()
    })
}

async fn add_comment(
    Extract(shared): Extract<Arc<Shared>>,
    Path((organization, id)): Path<(String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    answered(&shared, &headers, &organization, "POST comment", |state| {
        if let Some(left) = &mut state.writes_left {
            if *left == 0 {
                let reset = (this_second() + 2).to_string();
                let headers = [
                    ("x-sentry-rate-limit-limit", "5".to_owned()),
                    ("x-sentry-rate-limit-remaining", "0".to_owned()),
                    ("x-sentry-rate-limit-reset", reset),
                ];
                let body =
                    json!({"detail": "You are attempting to use this endpoint too frequently."});
                return (StatusCode::TOO_MANY_REQUESTS, headers, body.to_string()).into_response();
            }
            *left -= 1;
        }
        let text = body.get("text").and_then(Value::as_str).unwrap_or_default();
        if state.issues.iter().all(|one| one["id"] != id) {
            return not_found();
        }
        if text.is_empty() {
            let body = json!({"text": ["This field is required."]}).to_string();
            return (StatusCode::BAD_REQUEST, body).into_response();
        }
        state.next_id += 1;
        let comment = Comment {
            id: state.next_id.to_string(),
            issue: id,
            text: text.to_owned(),
            who: "waystation-1a2b3c".to_owned(),
            hiding: shared.trouble.hiding(),
        };
        let answer = (StatusCode::CREATED, comment.spelled().to_string()).into_response();
        state.comments.push(comment);
        shared.trouble.delivered(answer)
    })
}

async fn change_comment(
    Extract(shared): Extract<Arc<Shared>>,
    Path((organization, _, note)): Path<(String, String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    answered(&shared, &headers, &organization, "PUT comment", |state| {
        let Some(comment) = state.comments.iter_mut().find(|one| one.id == note) else {
            return not_found();
        };
        body.get("text").and_then(Value::as_str).unwrap_or_default().clone_into(&mut comment.text);
        comment.spelled().to_string().into_response()
    })
}

impl Comment {
    fn spelled(&self) -> Value {
        json!({
            "id": self.id, "issue": self.issue, "type": "note", "data": {"text": self.text},
            "user": {"id": "9", "name": self.who}, "dateCreated": "2026-02-17T12:00:00Z",
        })
    }
}
