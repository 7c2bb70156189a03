//! A fake of OpenProject: work packages with their activities, and webhooks that are signed.

use std::sync::Arc;

use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use ring::hmac;
use serde_json::{Value, json};

use super::FakeServer;
use super::calling::{Answered, headers as spelled, post, tag};
use super::trouble::{Hiding, Trouble};

/// The API key of the fake's account.
pub const API_KEY: &str = "opapi-fake";
/// What the fake signs with.
pub const WEBHOOK_SECRET: &str = "a-secret-of-openproject's";
/// The id of the account behind the key.
pub const USER_ID: i64 = 5;

/// A running fake.
#[derive(Debug)]
pub struct OpenProjectFake {
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
    work_packages: Vec<Value>,
    activities: Vec<Activity>,
    requests: Vec<String>,
    next_id: i64,
}

#[derive(Clone, Debug)]
struct Activity {
    id: i64,
    work_package: i64,
    raw: String,
    user: (i64, String),
    is_internal: bool,
    hiding: Hiding,
}

impl OpenProjectFake {
    /// Starts it, with nothing in it yet.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let routes = Router::new()
            .route("/api/v3/users/me", get(me))
            .route("/api/v3/work_packages/{id}", get(work_package))
            .route("/api/v3/work_packages/{id}/activities", get(activities).post(add_comment))
            .route("/api/v3/activities/{id}", patch(change_comment))
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

    /// Adds a work package.
    pub fn add_work_package(&self, id: i64, subject: &str, description: &str) {
        let titled = |title: &str| json!({"href": "/api/v3/x/1", "title": title});
        let work = json!({
            "_type": "WorkPackage", "id": id, "subject": subject, "lockVersion": 1,
            "description": {"format": "markdown", "raw": description},
            "createdAt": "2026-02-17T12:00:00Z", "updatedAt": "2026-02-17T12:00:00Z",
            "_links": {
                "status": titled("In progress"), "type": titled("Bug"), "priority": titled("High"),
                "project": titled("Shop"), "author": titled("Anna"),
            },
        });
        self.shared.state.lock().work_packages.push(work);
    }

    /// Somebody comments on a work package.
    pub fn say(&self, work_package: i64, name: &str, raw: &str, is_internal: bool) {
        let mut state = self.shared.state.lock();
        state.add(work_package, (1, name.to_owned()), raw, is_internal, Hiding::No);
    }

    /// The comments that were made through the API: work package and text.
    pub fn posted(&self) -> Vec<(i64, String)> {
        let state = self.shared.state.lock();
        let ours = state.activities.iter().filter(|one| one.user.0 == USER_ID);
        ours.map(|one| (one.work_package, one.raw.clone())).collect()
    }

    /// Every request so far, with its query.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state.lock().requests.clone()
    }

    /// The headers of a delivery. There is no id: a second one looks like the first.
    pub fn signed(body: &[u8]) -> Vec<(String, String)> {
        let tag = tag(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, WEBHOOK_SECRET, body);
        spelled([
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json".to_owned()),
            ("x-op-signature", format!("sha1={tag}")),
        ])
    }

    /// Delivers an event to a hub so many times.
    pub async fn deliver(&self, to: &str, payload: &Value, times: u32) -> Vec<Answered> {
        let body = payload.to_string().into_bytes();
        let mut answers = Vec::new();
        for _ in 0..times {
            answers.push(post(to, &Self::signed(&body), &body).await);
        }
        answers
    }

    /// A payload that tells of a work package, in OpenProject's own shape.
    pub fn work_package_event(&self, id: i64, action: &str) -> Value {
        let state = self.shared.state.lock();
        let work = state.work_packages.iter().find(|one| one["id"] == id).cloned();
        json!({"action": format!("work_package:{action}"), "work_package": work.unwrap_or_default()})
    }
}

impl State {
    fn add(
        &mut self,
        work_package: i64,
        user: (i64, String),
        raw: &str,
        is_internal: bool,
        hiding: Hiding,
    ) -> Activity {
        self.next_id += 1;
        let activity = Activity {
            id: self.next_id,
            work_package,
            raw: raw.to_owned(),
            user,
            is_internal,
            hiding,
        };
        self.activities.push(activity.clone());
        activity
    }
}

/// Answers whoever has the key.
fn answered(
    shared: &Shared,
    headers: &HeaderMap,
    what: String,
    answer: impl FnOnce(&mut State) -> Response,
) -> Response {
    let mut state = shared.state.lock();
    state.requests.push(what);
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    let basic = format!("Basic {}", STANDARD.encode(format!("apikey:{API_KEY}")));
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    if given != Some(basic.as_str()) {
        return failed(
            StatusCode::UNAUTHORIZED,
            "Unauthenticated",
            "You need to be authenticated.",
        );
    }
    answer(&mut state)
}

fn failed(status: StatusCode, identifier: &str, message: &str) -> Response {
    let body = json!({
        "_type": "Error", "message": message,
        "errorIdentifier": format!("urn:openproject-org:api:v3:errors:{identifier}"),
    });
    (status, body.to_string()).into_response()
}

fn not_found() -> Response {
    failed(StatusCode::NOT_FOUND, "NotFound", "The requested resource could not be found.")
}

async fn me(Extract(shared): Extract<Arc<Shared>>, headers: HeaderMap) -> Response {
    answered(&shared, &headers, "GET me".to_owned(), |_| {
        json!({"_type": "User", "id": USER_ID, "name": "Waystation"}).to_string().into_response()
    })
}

async fn work_package(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, format!("GET work package {id}"), |state| {
        match state.work_packages.iter().find(|one| one["id"] == id) {
            Some(work) => work.to_string().into_response(),
            None => not_found(),
        }
    })
}

async fn activities(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
) -> Response {
    answered(&shared, &headers, format!("GET activities of {id}"), |state| {
        let mut listed = Vec::new();
        for activity in state.activities.iter_mut().filter(|one| one.work_package == id) {
            if shared.trouble.is_listed(&mut activity.hiding) {
                listed.push(activity.spelled());
            }
        }
        let total = listed.len();
        json!({"_type": "Collection", "total": total, "count": total, "_embedded": {"elements": listed}})
            .to_string()
            .into_response()
    })
}

async fn add_comment(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    uri: Uri,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let what = format!("POST {uri}");
    answered(&shared, &headers, what, |state| {
        if state.work_packages.iter().all(|one| one["id"] != id) {
            return not_found();
        }
        let raw = body.pointer("/comment/raw").and_then(Value::as_str).unwrap_or_default();
        if raw.is_empty() {
            let message = "Comment can't be blank.";
            return failed(
                StatusCode::UNPROCESSABLE_ENTITY,
                "PropertyConstraintViolation",
                message,
            );
        }
        let user = (USER_ID, "Waystation".to_owned());
        let activity = state.add(id, user, raw, false, shared.trouble.hiding());
        let answer = (StatusCode::CREATED, activity.spelled().to_string()).into_response();
        shared.trouble.delivered(answer)
    })
}

async fn change_comment(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    answered(&shared, &headers, format!("PATCH activity {id}"), |state| {
        let Some(activity) = state.activities.iter_mut().find(|one| one.id == id) else {
            return not_found();
        };
        let raw = body.pointer("/comment/raw").and_then(Value::as_str).unwrap_or_default();
        raw.clone_into(&mut activity.raw);
        activity.spelled().to_string().into_response()
    })
}

impl Activity {
    fn spelled(&self) -> Value {
        json!({
            "_type": "Activity::Comment", "id": self.id, "version": 1, "internal": self.is_internal,
            "comment": {"format": "markdown", "raw": self.raw},
            "createdAt": "2026-02-17T12:00:00Z", "updatedAt": "2026-02-17T12:00:00Z",
            "_links": {
                "workPackage": {"href": format!("/api/v3/work_packages/{}", self.work_package)},
                "user": {"href": format!("/api/v3/users/{}", self.user.0), "title": self.user.1},
            },
        })
    }
}
