//! Issues and comments of the fake, with GitHub's limits and pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State as Extract};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::calling::this_second;
use super::app::{bad_credentials, bearer};
use super::state::{Comment, Place};
use super::{LOGIN, Shared, TOKEN};

/// The longest comment, in characters.
pub(super) const BODY_CHARS_MAX: usize = 65_536;
/// Requests that GitHub takes in an hour.
const REQUESTS_PER_HOUR: &str = "5000";

type Parameters = Query<BTreeMap<String, String>>;
type Repo = Path<(String, String, i64)>;

pub(super) async fn issue(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, number)): Repo,
    headers: HeaderMap,
) -> Response {
    read(&shared, &headers, &format!("GET /repos/{owner}/{name}/issues/{number}"), || {
        let state = shared.state.lock();
        let repo = format!("{owner}/{name}");
        let Some(issue) = state.issues.get(&(repo.clone(), number)) else { return not_found() };
        let mut issue = issue.clone();
        let is_here = |one: &&Comment| one.repo == repo && one.place == Place::Issue(number);
        if let Some(fields) = issue.as_object_mut() {
            let count = state.comments.iter().filter(is_here).count();
            fields.insert("comments".to_owned(), json!(count));
        }
        issue.to_string().into_response()
    })
}

pub(super) async fn issue_comments(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, number)): Repo,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    let what = format!("repos/{owner}/{name}/issues/{number}/comments");
    list(&shared, &headers, &what, &parameters, |one| {
        one.repo == format!("{owner}/{name}") && one.place == Place::Issue(number)
    })
}

pub(super) async fn review_comments(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, number)): Repo,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    let what = format!("repos/{owner}/{name}/pulls/{number}/comments");
    list(&shared, &headers, &what, &parameters, |one| {
        let is_here = matches!(one.place, Place::Review { number: known, .. } if known == number);
        one.repo == format!("{owner}/{name}") && is_here
    })
}

pub(super) async fn commit_comments(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, sha)): Path<(String, String, String)>,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    let what = format!("repos/{owner}/{name}/commits/{sha}/comments");
    list(&shared, &headers, &what, &parameters, |one| {
        one.repo == format!("{owner}/{name}") && one.place == Place::Commit(sha.clone())
    })
}

pub(super) async fn comment_on_issue(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, number)): Repo,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let repo = format!("{owner}/{name}");
    if !shared.state.lock().issues.contains_key(&(repo.clone(), number)) {
        return not_found();
    }
    write(&shared, &headers, &repo, &Place::Issue(number), &body)
}

pub(super) async fn reply_in_review(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, number, comment)): Path<(String, String, i64, i64)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let place = Place::Review { number, comment };
    write(&shared, &headers, &format!("{owner}/{name}"), &place, &body)
}

pub(super) async fn comment_on_commit(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, sha)): Path<(String, String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    write(&shared, &headers, &format!("{owner}/{name}"), &Place::Commit(sha), &body)
}

pub(super) async fn change_comment(
    Extract(shared): Extract<Arc<Shared>>,
    Path((owner, name, id)): Repo,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let what = format!("PATCH /repos/{owner}/{name}/…/comments/{id}");
    read(&shared, &headers, &what, || {
        let mut state = shared.state.lock();
        let Some(comment) = state.comments.iter_mut().find(|one| one.id == id) else {
            return not_found();
        };
        text(&body).clone_into(&mut comment.body);
        comment.spelled().to_string().into_response()
    })
}

/// Answers whoever has a token.
pub(super) fn read(
    shared: &Shared,
    headers: &HeaderMap,
    what: &str,
    answer: impl FnOnce() -> Response,
) -> Response {
    shared.state.lock().requests.push(what.to_owned());
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    if !is_let_in(shared, headers) {
        return bad_credentials();
    }
    counted(answer())
}

fn is_let_in(shared: &Shared, headers: &HeaderMap) -> bool {
    let token = bearer(headers).unwrap_or_default();
    token == TOKEN || shared.state.lock().tokens.contains(token)
}

/// A page of comments, the oldest first, with the addresses of the others.
fn list(
    shared: &Shared,
    headers: &HeaderMap,
    path: &str,
    parameters: &BTreeMap<String, String>,
    is_here: impl Fn(&Comment) -> bool,
) -> Response {
    read(shared, headers, &format!("GET /{path}"), || {
        let number = |name: &str, default: usize| {
            parameters.get(name).and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        let (size, page) = (number("per_page", 30).clamp(1, 100), number("page", 1).max(1));
        let mut state = shared.state.lock();
        let url = state.url.clone();
        let mut listed = Vec::new();
        for comment in state.comments.iter_mut().filter(|one| is_here(one)) {
            if shared.trouble.is_listed(&mut comment.hiding) {
                listed.push(comment.spelled());
            }
        }
        let last = listed.len().div_ceil(size).max(1);
        let shown: Vec<Value> = listed.into_iter().skip((page - 1) * size).take(size).collect();
        let mut answer = Value::Array(shown).to_string().into_response();
        if page < last {
            let link = format!(
                "<{url}/{path}?per_page={size}&page={}>; rel=\"next\", \
                 <{url}/{path}?per_page={size}&page={last}>; rel=\"last\"",
                page + 1
            );
            answer.headers_mut().insert("link", HeaderValue::try_from(link).expect("a header"));
        }
        answer
    })
}

fn write(
    shared: &Shared,
    headers: &HeaderMap,
    repo: &str,
    place: &Place,
    body: &Value,
) -> Response {
    read(shared, headers, &format!("POST a comment to {repo}"), || {
        let mut state = shared.state.lock();
        if let Some((left, retry_after)) = &mut state.writes_left {
            if *left == 0 {
                return limited(*retry_after);
            }
            *left -= 1;
        }
        let said = text(body);
        if said.is_empty() || said.chars().count() > BODY_CHARS_MAX {
            let message = json!({
                "message": "Validation Failed",
                "errors": [{"message": format!("body is too long (maximum is {BODY_CHARS_MAX} characters)")}],
            });
            return (StatusCode::UNPROCESSABLE_ENTITY, message.to_string()).into_response();
        }
        let comment = state.add(repo, place, LOGIN, said, shared.trouble.hiding());
        let answer = (StatusCode::CREATED, comment.spelled().to_string()).into_response();
        shared.trouble.delivered(answer)
    })
}

/// The secondary limit, in GitHub's words.
pub(super) fn limited(retry_after: u64) -> Response {
    let body = json!({
        "message": "You have exceeded a secondary rate limit. Please wait a few minutes.",
        "documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits",
    });
    let headers = [("retry-after", retry_after.to_string())];
    (StatusCode::FORBIDDEN, headers, body.to_string()).into_response()
}

/// The headers that every answer counts with.
fn counted(mut answer: Response) -> Response {
    let reset = (this_second() + 3_600).to_string();
    for (name, value) in [
        ("x-ratelimit-limit", REQUESTS_PER_HOUR),
        ("x-ratelimit-remaining", "4999"),
        ("x-ratelimit-reset", &reset),
    ] {
        // Whoever is past the limit has been told so already.
        let headers = answer.headers_mut();
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::try_from(value).expect("a header"));
        }
    }
    answer
}

fn text(body: &Value) -> &str {
    body.get("body").and_then(Value::as_str).unwrap_or_default()
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, json!({"message": "Not Found"}).to_string()).into_response()
}
