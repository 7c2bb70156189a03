//! The control port: `POST /{service}/{what}` with JSON, answered with JSON.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{Answered, SlackFake, Trouble};
use super::All;

pub(super) async fn about(Extract(all): Extract<Arc<All>>) -> Response {
    all.about().to_string().into_response()
}

pub(super) async fn control(
    Extract(all): Extract<Arc<All>>,
    Path((service, what)): Path<(String, String)>,
    Json(asked): Json<Value>,
) -> Response {
    let answer = match service.as_str() {
        "github" => github(&all, &what, &asked).await,
        "sentry" => sentry(&all, &what, &asked).await,
        "openproject" => openproject(&all, &what, &asked).await,
        "slack" => slack(&all, &what, &asked).await,
        "webhook" if what == "heard" => Some(heard(&all)),
        _ => None,
    };
    match answer {
        Some(answer) => answer.to_string().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn github(all: &All, what: &str, asked: &Value) -> Option<Value> {
    let fake = &all.github;
    match what {
        "posted" => Some(
            fake.posted()
                .iter()
                .map(|one| {
                    json!({
                        "id": one.id, "repo": one.repo, "login": one.login, "body": one.body,
                    })
                })
                .collect(),
        ),
        "add_issue" => {
            let number = whole(asked, "number");
            fake.add_issue(
                text(asked, "repo"),
                number,
                text(asked, "title"),
                text(asked, "body"),
                &[],
            );
            Some(json!({}))
        }
        // `payload` as it is given, or the event of an issue.
        "deliver" => {
            let payload = asked.get("payload").cloned().unwrap_or_else(|| {
                fake.issue_event(text(asked, "repo"), whole(asked, "number"), text(asked, "action"))
            });
            let event = asked.get("event").and_then(Value::as_str).unwrap_or("issues");
            Some(answers(&fake.deliver(text(asked, "to"), event, &payload, times(asked)).await))
        }
        "limit_writes" => {
            let writes = u32::try_from(whole(asked, "writes")).unwrap_or_default();
            fake.limit_writes(writes, u64::try_from(whole(asked, "retry_after")).unwrap_or(1));
            Some(json!({}))
        }
        "lift_limit" => {
            fake.lift_limit();
            Some(json!({}))
        }
        _ => trouble(fake.trouble(), what, asked),
    }
}

async fn sentry(all: &All, what: &str, asked: &Value) -> Option<Value> {
    let fake = &all.sentry;
    match what {
        "posted" => Some(
            fake.posted()
                .iter()
                .map(|(issue, text)| json!({"issue": issue, "text": text}))
                .collect(),
        ),
        "add_issue" => {
            fake.add_issue(text(asked, "id"), text(asked, "title"));
            Some(json!({}))
        }
        "deliver" => {
            let payload = asked.get("payload").cloned();
            let payload = payload
                .unwrap_or_else(|| fake.issue_event(text(asked, "id"), text(asked, "action")));
            let resource = asked.get("resource").and_then(Value::as_str).unwrap_or("issue");
            Some(answers(&fake.deliver(text(asked, "to"), resource, &payload, times(asked)).await))
        }
        _ => trouble(fake.trouble(), what, asked),
    }
}

async fn openproject(all: &All, what: &str, asked: &Value) -> Option<Value> {
    let fake = &all.openproject;
    match what {
        "posted" => Some(
            fake.posted().iter().map(|(id, raw)| json!({"work_package": id, "raw": raw})).collect(),
        ),
        "deliver" => {
            let payload = asked.get("payload").cloned().unwrap_or_else(|| {
                fake.work_package_event(whole(asked, "id"), text(asked, "action"))
            });
            Some(answers(&fake.deliver(text(asked, "to"), &payload, times(asked)).await))
        }
        _ => trouble(fake.trouble(), what, asked),
    }
}

async fn slack(all: &All, what: &str, asked: &Value) -> Option<Value> {
    let fake = &all.slack;
    let (to, user, channel) = (text(asked, "to"), text(asked, "user"), text(asked, "channel"));
    let body = match what {
        "posted" => return Some(Value::Array(fake.posted(channel))),
        "views" => return Some(Value::Array(fake.views())),
        "add_channel" => {
            fake.add_channel(channel, text(asked, "name"), true);
            return Some(json!({}));
        }
        "command" => fake.slash_command(channel, user, text(asked, "command"), text(asked, "text")),
        "event" => fake.callback(asked.get("event")?),
        // A message by its `ts`, a button by its `action_id`.
        "click" => {
            let messages = fake.posted(channel);
            let message = messages.iter().find(|one| one["ts"] == asked["ts"])?;
            fake.click(user, channel, message, text(asked, "action_id"))
        }
        // The newest view, with a text typed into it.
        "submit" => fake.submit(user, fake.views().last()?, text(asked, "text")),
        _ => return trouble(fake.trouble(), what, asked),
    };
    Some(answers(&SlackFake::deliver(to, &body, times(asked)).await))
}

fn heard(all: &All) -> Value {
    let heard = all.receiver.heard();
    let call = |called: &super::super::Called| json!({"headers": called.headers, "body": String::from_utf8_lossy(&called.body)});
    heard.iter().map(call).collect()
}

fn trouble(trouble: &Trouble, what: &str, asked: &Value) -> Option<Value> {
    let count = usize::try_from(whole(asked, "count")).unwrap_or_default();
    match what {
        "drop_answers" => trouble.drop_answers(count),
        "hide_for_looks" => trouble.hide_for_looks(count),
        "hide_until_shown" => trouble.hide_until_shown(),
        "show" => trouble.show(),
        "refuse_next" => {
            let status = u16::try_from(whole(asked, "status")).unwrap_or(500);
            let retry_after = whole(asked, "retry_after").to_string();
            let headers = [("retry-after", retry_after.as_str())];
            let headers = if asked.get("retry_after").is_some() { &headers[..] } else { &[] };
            trouble.refuse_next(status, headers, asked.get("body").cloned().unwrap_or(json!({})));
        }
        _ => return None,
    }
    Some(json!({}))
}

fn answers(answers: &[Answered]) -> Value {
    answers.iter().map(|one| json!({"status": one.status, "body": one.body})).collect()
}

fn text<'a>(asked: &'a Value, name: &str) -> &'a str {
    asked.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn whole(asked: &Value, name: &str) -> i64 {
    asked.get(name).and_then(Value::as_i64).unwrap_or_default()
}

fn times(asked: &Value) -> u32 {
    u32::try_from(whole(asked, "times")).unwrap_or(1).clamp(1, 4)
}
