//! Discussions of the fake, which GitHub shows and takes over GraphQL alone: nearly every answer has
//! status 200, and what went wrong stands in `errors`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::calling::this_second;
use super::api::{BODY_CHARS_MAX, limited, read};
use super::state::{Comment, Place, State};
use super::{GithubFake, LOGIN, Shared};

/// Most of a list that GitHub shows at once.
const PAGE_MAX: usize = 100;

impl GithubFake {
    /// Adds a discussion; answers its node id.
    pub fn add_discussion(&self, repo: &str, number: i64, title: &str) -> String {
        let mut state = self.shared.state.lock();
        state.discussions.insert((repo.to_owned(), number), title.to_owned());
        discussion_node(number)
    }

    /// Somebody comments on a discussion, or answers a comment there by its id.
    pub fn discuss(&self, repo: &str, number: i64, beneath: Option<i64>, body: &str) -> i64 {
        let place = Place::Discussion { number, beneath };
        let mut state = self.shared.state.lock();
        state.add(repo, &place, "anna", body, super::super::trouble::Hiding::No).id
    }

    /// Lets so many GraphQL requests through; the next ones are answered as GitHub does past its hourly
    /// limit: with status 200.
    pub fn limit_graphql(&self, requests: Option<u32>) {
        self.shared.state.lock().graphql_left = requests;
    }

    /// A payload that tells of a discussion, or of a comment there, in GitHub's own shape.
    pub fn discussion_event(&self, repo: &str, number: i64, comment: Option<i64>) -> Value {
        let state = self.shared.state.lock();
        let title = state.discussions.get(&(repo.to_owned(), number)).cloned().unwrap_or_default();
        let mut payload = json!({
            "action": "created",
            "discussion": {
                "id": 7_000 + number, "node_id": discussion_node(number), "number": number,
                "title": title, "body": "What do you think?",
                "html_url": format!("https://github.com/{repo}/discussions/{number}"),
                "user": {"login": "anna", "id": 1, "type": "User"},
                "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
            },
            "repository": {"full_name": repo, "html_url": format!("https://github.com/{repo}")},
            "sender": {"login": "anna", "id": 1, "type": "User"},
            "installation": {"id": super::INSTALLATION_ID},
        });
        let found = comment.and_then(|id| state.comments.iter().find(|one| one.id == id));
        if let (Some(found), Some(fields)) = (found, payload.as_object_mut()) {
            let mut spelled = found.spelled();
            let beneath = match &found.place {
                Place::Discussion { beneath, .. } => *beneath,
                _ => None,
            };
            if let Some(comment) = spelled.as_object_mut() {
                comment.insert("node_id".to_owned(), comment_node(found.id).into());
                comment.insert("parent_id".to_owned(), json!(beneath));
            }
            fields.insert("comment".to_owned(), spelled);
            fields.insert("sender".to_owned(), json!({"login": found.login, "type": "User"}));
        }
        payload
    }
}

fn discussion_node(number: i64) -> String {
    format!("D_fake{number}")
}

fn comment_node(id: i64) -> String {
    format!("DC_fake{id}")
}

/// `POST /graphql`.
pub(super) async fn graphql(
    Extract(shared): Extract<Arc<Shared>>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    let query = asked.get("query").and_then(Value::as_str).unwrap_or_default();
    let sort = if query.trim_start().starts_with("mutation") { "POST" } else { "READ" };
    let name = ["addDiscussionComment", "updateDiscussionComment", "node(", "repository("]
        .into_iter()
        .find(|name| query.contains(name))
        .unwrap_or_default();
    read(&shared, &headers, &format!("{sort} /graphql {name}"), || {
        let mut state = shared.state.lock();
        if let Some(left) = &mut state.graphql_left {
            if *left == 0 {
                return past_the_limit();
            }
            *left -= 1;
        }
        let variables = asked.get("variables").unwrap_or(&Value::Null);
        match name {
            "addDiscussionComment" => add(&shared, &mut state, variables),
            "updateDiscussionComment" => update(&mut state, variables),
            "node(" => node(&shared, &mut state, variables),
            "repository(" => repository(&shared, &mut state, variables),
            _ => failed(None, "Parse error on \"\"", json!({"code": "undefinedField"})),
        }
    })
}

fn text<'a>(variables: &'a Value, name: &str) -> &'a str {
    variables.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn answered(data: &Value) -> Response {
    json!({ "data": data }).to_string().into_response()
}

/// What went wrong, in an answer that looks like a success.
fn failed(sort: Option<&str>, message: &str, extensions: Value) -> Response {
    let mut error = json!({ "message": message });
    if let Some(fields) = error.as_object_mut() {
        if let Some(sort) = sort {
            fields.insert("type".to_owned(), sort.into());
        }
        if !extensions.is_null() {
            fields.insert("extensions".to_owned(), extensions);
        }
    }
    json!({ "data": null, "errors": [error] }).to_string().into_response()
}

/// The hourly limit: a success by its status, and none by what it says.
fn past_the_limit() -> Response {
    let mut answer = failed(Some("RATE_LIMITED"), "API rate limit exceeded", Value::Null);
    let reset = (this_second() + 40).to_string();
    for (name, value) in [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)] {
        answer.headers_mut().insert(name, value.parse().expect("the value of a header"));
    }
    answer
}

fn missing(id: &str) -> Response {
    let message = format!("Could not resolve to a node with the global id of '{id}'");
    failed(Some("NOT_FOUND"), &message, Value::Null)
}

fn place_of(state: &State, id: &str) -> Option<(String, i64)> {
    state.discussions.keys().find(|(_, number)| discussion_node(*number) == id).cloned()
}

fn add(shared: &Shared, state: &mut State, variables: &Value) -> Response {
    if let Some((left, retry_after)) = &mut state.writes_left {
        if *left == 0 {
            return limited(*retry_after);
        }
        *left -= 1;
    }
    let (body, discussion) = (text(variables, "body"), text(variables, "discussion"));
    let Some((repo, number)) = place_of(state, discussion) else { return missing(discussion) };
    let reply_to = text(variables, "replyTo");
    let beneath = state.comments.iter().find(|one| comment_node(one.id) == reply_to);
    let beneath = match (reply_to, beneath.map(|one| (one.id, &one.place))) {
        ("", _) => None,
        (_, Some((id, Place::Discussion { beneath: None, .. }))) => Some(id),
        (_, Some(_)) => {
            let message = "Parent comment is already in a thread, cannot reply to it";
            return failed(Some("UNPROCESSABLE"), message, Value::Null);
        }
        (_, None) => return missing(reply_to),
    };
    if body.is_empty() || body.chars().count() > BODY_CHARS_MAX {
        return failed(Some("UNPROCESSABLE"), "Body is too long", Value::Null);
    }
    let place = Place::Discussion { number, beneath };
    let comment = state.add(&repo, &place, LOGIN, body, shared.trouble.hiding());
    let data = json!({ "addDiscussionComment": { "comment": spelled(&comment) } });
    shared.trouble.delivered(answered(&data))
}

fn update(state: &mut State, variables: &Value) -> Response {
    let id = text(variables, "comment");
    let found = state.comments.iter_mut().find(|one| comment_node(one.id) == id);
    let Some(comment) = found else { return missing(id) };
    text(variables, "body").clone_into(&mut comment.body);
    answered(&json!({ "updateDiscussionComment": { "comment": spelled(comment) } }))
}

/// A comment by its node id, with the newest of its replies.
fn node(shared: &Shared, state: &mut State, variables: &Value) -> Response {
    let id = text(variables, "id");
    let found = state.comments.iter().find(|one| comment_node(one.id) == id).cloned();
    let Some(comment) = found else { return missing(id) };
    let Place::Discussion { number, beneath } = comment.place.clone() else { return missing(id) };
    let replies = listed(shared, state, &comment.repo, |place| {
        *place == Place::Discussion { number, beneath: Some(comment.id) }
    });
    let mut node = spelled(&comment);
    if let Some(fields) = node.as_object_mut() {
        let above = beneath.map(|id| json!({ "id": comment_node(id) }));
        fields.insert("replyTo".to_owned(), json!(above));
        fields.insert("replies".to_owned(), newest(&replies, variables));
    }
    answered(&json!({ "node": node }))
}

/// A discussion with the newest of its comments, each with the newest of its replies.
fn repository(shared: &Shared, state: &mut State, variables: &Value) -> Response {
    let repo = format!("{}/{}", text(variables, "owner"), text(variables, "name"));
    let number = variables.get("number").and_then(Value::as_i64).unwrap_or_default();
    if !state.discussions.contains_key(&(repo.clone(), number)) {
        let message = format!("Could not resolve to a Discussion with the number of {number}.");
        return failed(Some("NOT_FOUND"), &message, Value::Null);
    }
    let mut comments =
        listed(shared, state, &repo, |place| *place == Place::Discussion { number, beneath: None });
    for comment in &mut comments {
        let beneath = comment.get("databaseId").and_then(Value::as_i64);
        let replies =
            listed(shared, state, &repo, |place| *place == Place::Discussion { number, beneath });
        if let Some(fields) = comment.as_object_mut() {
            fields.insert("replies".to_owned(), newest(&replies, &Value::Null));
        }
    }
    let mut discussion = json!({ "id": discussion_node(number) });
    if let Some(fields) = discussion.as_object_mut() {
        fields.insert("comments".to_owned(), newest(&comments, variables));
    }
    answered(&json!({ "repository": { "discussion": discussion } }))
}

fn listed(
    shared: &Shared,
    state: &mut State,
    repo: &str,
    is_here: impl Fn(&Place) -> bool,
) -> Vec<Value> {
    let all = state.comments.iter_mut().filter(|one| one.repo == repo && is_here(&one.place));
    all.filter_map(|one| shared.trouble.is_listed(&mut one.hiding).then(|| spelled(one))).collect()
}

/// The newest of a list, or those before a cursor.
fn newest(all: &[Value], variables: &Value) -> Value {
    let before = text(variables, "before").parse().unwrap_or(all.len()).min(all.len());
    let from = before.saturating_sub(PAGE_MAX);
    let nodes = all.get(from..before).unwrap_or_default();
    json!({
        "nodes": nodes,
        "pageInfo": { "hasPreviousPage": from > 0, "startCursor": from.to_string() },
    })
}

fn spelled(comment: &Comment) -> Value {
    let rest = comment.spelled();
    json!({
        "id": comment_node(comment.id), "databaseId": comment.id, "body": comment.body,
        "url": rest.get("html_url"), "author": { "login": comment.login.trim_end_matches("[bot]") },
        "viewerDidAuthor": comment.login == LOGIN,
    })
}
