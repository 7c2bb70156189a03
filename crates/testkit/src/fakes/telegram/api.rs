//! The methods of the Bot API, as far as the fake knows them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::bot::{BOT_ID, Failure, Shared, TOKEN};

fn ok(result: &Value) -> Response {
    axum::Json(json!({ "ok": true, "result": result })).into_response()
}

fn refuse(code: u16, description: &str, parameters: Option<Value>) -> Response {
    let parameters = parameters.unwrap_or_else(|| json!({}));
    let body = json!({
        "ok": false, "error_code": code, "description": description, "parameters": parameters,
    });
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
    (status, axum::Json(body)).into_response()
}

fn failed(failure: &Failure) -> Response {
    match failure {
        Failure::TooManyRequests(seconds) => refuse(
            429,
            &format!("Too Many Requests: retry after {seconds}"),
            Some(json!({ "retry_after": seconds })),
        ),
        Failure::Conflict | Failure::Hold => terminated(),
        Failure::Status(status) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            (status, "<html>not the Bot API</html>").into_response()
        }
    }
}

fn terminated() -> Response {
    let description = "Conflict: terminated by other getUpdates request; make sure that only one \
                       bot instance is running";
    refuse(409, description, None)
}

pub(super) async fn method(
    State(shared): State<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    body: String,
) -> Response {
    if bot.strip_prefix("bot") != Some(TOKEN) {
        return refuse(401, "Unauthorized", None);
    }
    let said: Value = serde_json::from_str(&body).unwrap_or_else(|_| json!({}));
    let failure = {
        let mut bot = shared.bot();
        bot.calls.push((method.clone(), said.clone()));
        bot.failures.get_mut(&method).and_then(VecDeque::pop_front)
    };
    shared.changed.notify_waiters();
    match failure {
        Some(Failure::Hold) => {
            if method == "sendMessage" {
                send_message(&shared, &said);
            }
            return std::future::pending().await;
        }
        Some(failure) => return failed(&failure),
        None => {}
    }
    match method.as_str() {
        "getUpdates" => get_updates(&shared, &said).await,
        "getMe" => {
            let sees = shared.bot().sees_groups;
            ok(&json!({
                "id": BOT_ID, "is_bot": true, "first_name": "Fake", "username": "fake_bot",
                "can_join_groups": true, "can_read_all_group_messages": sees,
                "supports_inline_queries": false,
            }))
        }
        "getWebhookInfo" => {
            let bot = shared.bot();
            let url = bot.webhook.as_ref().map_or("", |(url, _)| url.as_str());
            ok(&json!({
                "url": url, "has_custom_certificate": false,
                "pending_update_count": bot.updates.len(),
            }))
        }
        "setWebhook" => {
            let word = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
            let (url, secret) = (word("url").unwrap_or_default(), word("secret_token"));
            shared.bot().webhook = (!url.is_empty()).then_some((url, secret));
            shared.changed.notify_waiters();
            ok(&json!(true))
        }
        "deleteWebhook" => {
            shared.bot().webhook = None;
            ok(&json!(true))
        }
        "sendMessage" => send_message(&shared, &said),
        "getFile" => get_file(&shared, &said),
        _ => refuse(404, "Not Found", None),
    }
}

/// A poll blocks until there is something, its time is over, or somebody else polls.
async fn get_updates(shared: &Shared, said: &Value) -> Response {
    let poll = {
        let mut bot = shared.bot();
        if bot.webhook.is_some() {
            let description = "Conflict: can't use getUpdates method while webhook is active; use \
                               deleteWebhook to delete the webhook first";
            return refuse(409, description, None);
        }
        bot.polls += 1;
        if let Some(offset) = said["offset"].as_i64() {
            bot.updates.retain(|update| update["update_id"].as_i64() >= Some(offset));
        }
        bot.polls
    };
    shared.changed.notify_waiters();
    let limit = said["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100);
    let waiting = Waiting::new(shared);
    let found = shared.until(|bot| {
        if bot.polls != poll {
            return Some(None);
        }
        let is_ready = !bot.updates.is_empty() || bot.released >= poll;
        is_ready.then(|| Some(bot.updates.iter().take(limit).cloned().collect::<Vec<_>>()))
    });
    let wait = Duration::from_secs(said["timeout"].as_u64().unwrap_or(0));
    let found = tokio::time::timeout(wait, found).await;
    drop(waiting);
    match found {
        Ok(None) => terminated(),
        Ok(Some(updates)) => ok(&Value::Array(updates)),
        Err(_) => ok(&json!([])),
    }
}

/// Counts whoever waits, also when they hang up.
struct Waiting<'a>(&'a Shared);

impl<'a> Waiting<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.bot().waiting += 1;
        shared.changed.notify_waiters();
        Self(shared)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.bot().waiting -= 1;
        self.0.changed.notify_waiters();
    }
}

fn send_message(shared: &Shared, said: &Value) -> Response {
    let text = said["text"].as_str().unwrap_or_default();
    let Some(chat_id) = said["chat_id"].as_i64() else {
        return refuse(400, "Bad Request: chat_id is empty", None);
    };
    if text.is_empty() {
        return refuse(400, "Bad Request: message text is empty", None);
    }
    let mut bot = shared.bot();
    bot.next_message_id += 1;
    bot.clock_seconds += 1;
    let kind = match chat_id {
        1.. => "private",
        -1_000_000_000_000..=0 => "group",
        _ => "supergroup",
    };
    let message = json!({
        "message_id": bot.next_message_id, "date": bot.clock_seconds, "text": text,
        "chat": { "id": chat_id, "type": kind },
        "from": { "id": BOT_ID, "is_bot": true, "first_name": "Fake", "username": "fake_bot" },
        "message_thread_id": said.get("message_thread_id"),
    });
    ok(&message)
}

fn get_file(shared: &Shared, said: &Value) -> Response {
    let file_id = said["file_id"].as_str().unwrap_or_default();
    match shared.bot().files.get(file_id) {
        Some(bytes) => ok(&json!({
            "file_id": file_id, "file_unique_id": file_id, "file_size": bytes.len(),
            "file_path": format!("documents/{file_id}"),
        })),
        None => refuse(400, "Bad Request: invalid file_id", None),
    }
}

pub(super) async fn file(
    State(shared): State<Arc<Shared>>,
    Path((bot, path)): Path<(String, String)>,
) -> Response {
    if bot.strip_prefix("bot") != Some(TOKEN) {
        return refuse(401, "Unauthorized", None);
    }
    let file_id = path.strip_prefix("documents/").unwrap_or_default();
    match shared.bot().files.get(file_id) {
        Some(bytes) => bytes.clone().into_response(),
        None => refuse(404, "Not Found", None),
    }
}
