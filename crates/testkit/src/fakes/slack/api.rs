//! The Web API of the fake: tokens, pages, limits, and errors with status 200.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State as Extract};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::trouble::Trouble;
use super::state::{State, put, text};
use super::{APP_TOKEN, BOT_TOKEN, OWN_ID, Shared, writing};

pub(super) type Fields = Vec<(String, String)>;

/// Serves one method.
pub(super) async fn method(
    Extract(shared): Extract<Arc<Shared>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let form = String::from_utf8_lossy(&body);
    let uri: Uri = format!("/?{form}").parse().expect("a form is a query");
    let fields = Query::<Fields>::try_from_uri(&uri).expect("a form has fields").0;
    shared.change(|state| {
        state.calls.push((method.clone(), fields.clone()));
        if let Some(refusal) = shared.trouble.refusal() {
            return refusal;
        }
        if let Some((left, retry_after)) = state.limits.get_mut(&method) {
            if *left == 0 {
                let headers = [("retry-after", retry_after.to_string())];
                let body = json!({"ok": false, "error": "ratelimited"}).to_string();
                return (StatusCode::TOO_MANY_REQUESTS, headers, body).into_response();
            }
            *left -= 1;
        }
        let answer = match token_error(&method, &headers) {
            Some(error) => json!({"ok": false, "error": error}),
            None => state.failures.get(&method).cloned().unwrap_or_else(|| {
                answer(state, &shared.trouble, &method, &fields)
                    .unwrap_or_else(|error| json!({"ok": false, "error": error}))
            }),
        };
        let answer =
            ([("x-oauth-scopes", state.scopes.clone())], answer.to_string()).into_response();
        let is_write = method.starts_with("chat.");
        if is_write { shared.trouble.delivered(answer) } else { answer }
    })
}

/// Serves a file, or a page to log in to whom it does not let in.
pub(super) async fn file(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if bearer(&headers) != Some(BOT_TOKEN) {
        return ([("content-type", "text/html; charset=utf-8")], "<html>").into_response();
    }
    let state = shared.state.lock();
    match state.files.iter().find(|(file, _)| file["id"] == *id) {
        Some((_, content)) => {
            ([("content-type", "application/octet-stream")], content.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

fn token_error(method: &str, headers: &HeaderMap) -> Option<&'static str> {
    let wanted = if method.starts_with("apps.") { APP_TOKEN } else { BOT_TOKEN };
    match bearer(headers) {
        None => Some("not_authed"),
        Some(token) if token == wanted => None,
        Some(BOT_TOKEN | APP_TOKEN) => Some("not_allowed_token_type"),
        Some(_) => Some("invalid_auth"),
    }
}

pub(super) fn field<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn answer(
    state: &mut State,
    trouble: &Trouble,
    method: &str,
    fields: &Fields,
) -> Result<Value, &'static str> {
    match method {
        "auth.test" => Ok(json!({
            "ok": true, "url": "https://acme.slack.com/", "team": "Acme", "team_id": "T1",
            "user": "waystation", "user_id": OWN_ID, "bot_id": "B1",
        })),
        "apps.connections.open" => {
            state.tickets_made += 1;
            let ticket = format!("t{}", state.tickets_made);
            state.tickets.push(ticket.clone());
            Ok(json!({
                "ok": true, "url": format!("ws://{}/link?ticket={ticket}", state.sockets_at),
            }))
        }
        "users.list" => {
            let users = state.users.clone();
            page(state, fields, users, "members")
        }
        "conversations.list" => {
            let chats = state.chats.clone();
            page(state, fields, chats, "channels")
        }
        "users.conversations" => {
            let takes_part = |chat: &&Value| chat["is_member"] == true || chat["is_im"] == true;
            let chats = state.chats.iter().filter(takes_part).cloned().collect();
            page(state, fields, chats, "channels")
        }
        "conversations.history" => history(state, trouble, fields),
        "conversations.replies" => replies(state, trouble, fields),
        "chat.postMessage" => writing::post(state, trouble, fields),
        "chat.update" => writing::update(state, fields),
        "views.open" => writing::open_view(state, fields),
        "files.info" => {
            let id = field(fields, "file").unwrap_or_default();
            let found = state.files.iter().find(|(file, _)| file["id"] == id);
            let mut file = found.ok_or("file_not_found")?.0.clone();
            if file.get("url_private").is_none() {
                put(&mut file, "url_private", json!(format!("{}/files/{id}", state.files_at)));
            }
            Ok(json!({"ok": true, "file": file}))
        }
        _ => Err("unknown_method"),
    }
}

/// A page of a list; what comes after it is found by a cursor.
fn page(
    state: &mut State,
    fields: &Fields,
    all: Vec<Value>,
    name: &str,
) -> Result<Value, &'static str> {
    let begin = match field(fields, "cursor").filter(|cursor| !cursor.is_empty()) {
        Some(cursor) => *state.cursors.get(cursor).ok_or("invalid_cursor")?,
        None => 0,
    };
    let asked = field(fields, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(100);
    let end = begin + state.page_max.min(asked);
    let has_more = end < all.len();
    let mut next = String::new();
    if has_more {
        state.cursors_made += 1;
        next = format!("cursor-{}", state.cursors_made);
        state.cursors.insert(next.clone(), end);
    }
    let page: Vec<Value> = all.into_iter().skip(begin).take(end - begin).collect();
    Ok(json!({
        "ok": true, name: page, "has_more": has_more,
        "response_metadata": {"next_cursor": next},
    }))
}

/// The messages of a chat the bot may read.
pub(super) fn readable<'a>(state: &'a State, fields: &Fields) -> Result<&'a [Value], &'static str> {
    let id = field(fields, "channel").unwrap_or_default();
    let chat = state.chats.iter().find(|chat| chat["id"] == id).ok_or("channel_not_found")?;
    if chat["is_im"] != true && chat["is_mpim"] != true && chat["is_member"] != true {
        return Err("not_in_channel");
    }
    Ok(state.messages.get(id).map_or(&[], Vec::as_slice))
}

fn is_reply(message: &Value) -> bool {
    message.get("thread_ts").is_some_and(|thread| *thread != message["ts"])
}

/// Newest first, without replies that were not sent to the channel too.
fn history(state: &mut State, trouble: &Trouble, fields: &Fields) -> Result<Value, &'static str> {
    readable(state, fields)?;
    writing::look(state, trouble, fields);
    let messages = readable(state, fields)?;
    let latest = field(fields, "latest").unwrap_or("9999999999.999999").to_owned();
    let mut shown = Vec::new();
    for message in messages.iter().rev() {
        if state.hidden.contains_key(text(message, "ts"))
            || text(message, "ts") >= &*latest
            || (is_reply(message) && message["subtype"] != "thread_broadcast")
        {
            continue;
        }
        let mut message = message.clone();
        let is_of_this =
            |one: &&Value| is_reply(one) && text(one, "thread_ts") == text(&message, "ts");
        let count = messages.iter().filter(is_of_this).count();
        if count > 0 {
            put(&mut message, "reply_count", json!(count));
            let ts = text(&message, "ts").to_owned();
            put(&mut message, "thread_ts", json!(ts));
        }
        shown.push(writing::shown(state, message, fields));
    }
    page(state, fields, shown, "messages")
}

/// The first message of a thread, then its replies, oldest first.
fn replies(state: &mut State, trouble: &Trouble, fields: &Fields) -> Result<Value, &'static str> {
    readable(state, fields)?;
    writing::look(state, trouble, fields);
    let messages = readable(state, fields)?;
    let thread = field(fields, "ts").unwrap_or_default();
    let is_of_this = |one: &&Value| one["ts"] == thread || one["thread_ts"] == thread;
    let is_listed = |one: &&Value| !state.hidden.contains_key(text(one, "ts"));
    let listed = messages.iter().filter(is_of_this).filter(is_listed).cloned();
    let shown: Vec<Value> = listed.map(|message| writing::shown(state, message, fields)).collect();
    if shown.is_empty() {
        return Err("thread_not_found");
    }
    page(state, fields, shown, "messages")
}
