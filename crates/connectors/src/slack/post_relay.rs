//! Messages of the relay at Slack: posting them, changing them, and finding those that may have arrived.

use std::collections::HashMap;

use connector_api::{ChatPlace, ConnectorError, Pace, Part, Posting, Receipt, Result};
use parking_lot::Mutex;
use protocol::limits::{outbound as limits, slack as slack_limits};
use serde_json::{Map, Value};

use super::api::{Answer, Api, Failure, fields};
use super::json::{list, text};
use super::render_relay::{EVENT_TYPE, Place, block_id};
use crate::web::WebPage;

/// The first message of each posting that began a thread of its own: the others answer it.
#[derive(Debug, Default)]
pub(super) struct Roots {
    known: Mutex<HashMap<String, String>>,
}

impl Roots {
    fn learn(&self, outbox_id: &str, ts: &str) {
        let mut known = self.known.lock();
        if known.len() >= slack_limits::SEND_CHATS_MAX {
            known.clear();
        }
        known.insert(outbox_id.to_owned(), ts.to_owned());
    }

    fn get(&self, outbox_id: &str) -> Option<String> {
        self.known.lock().get(outbox_id).cloned()
    }
}

/// Posts one part, once, or puts the first one in the place of an earlier posting.
pub(super) async fn post(
    api: &Api,
    roots: &Roots,
    posting: &Posting,
    part: &Part,
) -> Result<Receipt> {
    let place = Place::read(&posting.action.address)?;
    let mut asked = spelled(&part.body);
    let replaced = posting.replaces.as_ref();
    let old =
        replaced.and_then(|old| Some((old.get("channel")?.as_str()?, old.get("ts")?.as_str()?)));
    let method = match (old, part.index) {
        (Some((channel, ts)), 0) => {
            asked.retain(|(name, _)| !matches!(name.as_str(), "channel" | "thread_ts"));
            asked.extend(fields(&[("channel", channel), ("ts", ts)]));
            "chat.update"
        }
        (Some((_, ts)), _) if place.thread_ts.is_none() => {
            asked.extend(fields(&[("thread_ts", ts)]));
            "chat.postMessage"
        }
        (None, 1..) if place.thread_ts.is_none() => {
            let root = root(api, roots, &place, posting).await?;
            asked.extend(fields(&[("thread_ts", &root)]));
            "chat.postMessage"
        }
        _ => "chat.postMessage",
    };
    let answer = api.call(method, asked).await.map_err(Failure::plain)?;
    let (channel, ts) = (text(&answer.value, "channel"), text(&answer.value, "ts"));
    let Some(ts) = ts else {
        let reason = "expected the ts of the message that was posted".to_owned();
        return Err(ConnectorError::Protocol { reason });
    };
    if part.index == 0 {
        roots.learn(&posting.mark, ts);
    }
    Ok(receipt(channel.unwrap_or(&place.channel), ts, place.thread_ts.as_deref()))
}

/// Looks for a part by the mark in its metadata.
pub(super) async fn find(
    api: &Api,
    roots: &Roots,
    posting: &Posting,
    part: &Part,
) -> Result<Option<Receipt>> {
    let place = Place::read(&posting.action.address)?;
    let replaced = posting.replaces.as_ref().and_then(|old| old.get("ts")?.as_str());
    if part.index == 0 && replaced.is_some() {
        // Changing a message twice is changing it once.
        return Ok(None);
    }
    let thread = match (&place.thread_ts, replaced, part.index) {
        (Some(thread), _, _) => Some(thread.clone()),
        (None, Some(ts), _) => Some(ts.to_owned()),
        (None, None, 0) => None,
        (None, None, _) => Some(root(api, roots, &place, posting).await?),
    };
    let found = look(api, &place.channel, thread.as_deref(), &posting.mark, part.index).await?;
    Ok(found.map(|(receipt, _)| receipt))
}

/// Looks through a thread, or through the newest messages of a channel; gives the message too.
pub(super) async fn look(
    api: &Api,
    channel: &str,
    thread: Option<&str>,
    outbox_id: &str,
    index: usize,
) -> Result<Option<(Receipt, Value)>> {
    let page = slack_limits::HISTORY_PAGE.to_string();
    let mut cursor = None;
    for _ in 0..limits::SLACK_LOOK_MAX / slack_limits::HISTORY_PAGE {
        let mut asked =
            fields(&[("channel", channel), ("include_all_metadata", "true"), ("limit", &page)]);
        asked.extend(cursor.iter().map(|cursor: &String| ("cursor".to_owned(), cursor.clone())));
        let answer: Answer = match thread {
            Some(thread) => {
                asked.extend(fields(&[("ts", thread)]));
                api.call("conversations.replies", asked).await
            }
            None => api.call("conversations.history", asked).await,
        }
        .map_err(Failure::plain)?;
        let is_it = |message: &&Value| is_marked(message, outbox_id, index);
        if let Some(found) = answer.list("messages")?.iter().find(is_it) {
            let ts = text(found, "ts").unwrap_or_default();
            return Ok(Some((receipt(channel, ts, thread), found.clone())));
        }
        cursor = answer.next_cursor();
        if cursor.is_none() {
            break;
        }
    }
    Ok(None)
}

/// Whether a message carries a mark: in its metadata, or as the name of its first block.
fn is_marked(message: &Value, outbox_id: &str, index: usize) -> bool {
    let first = list(message, "blocks").first().and_then(|block| text(block, "block_id"));
    if first == Some(&block_id(outbox_id, index)) {
        return true;
    }
    let Some(metadata) = message.get("metadata") else { return false };
    let Some(payload) = metadata.get("event_payload") else { return false };
    let part = payload.get("part").and_then(Value::as_u64);
    let part = part.and_then(|part| usize::try_from(part).ok());
    text(metadata, "event_type") == Some(EVENT_TYPE)
        && text(payload, "id") == Some(outbox_id)
        && part == Some(index)
}

/// The first message of a posting, whose thread the others belong in.
async fn root(api: &Api, roots: &Roots, place: &Place, posting: &Posting) -> Result<String> {
    if let Some(ts) = roots.get(&posting.mark) {
        return Ok(ts);
    }
    let found = look(api, &place.channel, None, &posting.mark, 0).await?;
    let ts = found.and_then(|(found, _)| Some(found.address.get("ts")?.as_str()?.to_owned()));
    let ts = ts.ok_or_else(|| ConnectorError::Refused {
        reason: "the first message of this posting is gone, and the rest has nothing to follow"
            .to_owned(),
    })?;
    roots.learn(&posting.mark, &ts);
    Ok(ts)
}

/// One message a second for each channel.
pub(super) fn paces(posting: &Posting) -> Vec<Pace> {
    let address = &posting.action.address;
    let channel = match (ChatPlace::read(address), Place::read(address)) {
        (Some(chat), _) => chat.chat_id,
        (None, Ok(place)) => place.channel,
        (None, Err(_)) => return Vec::new(),
    };
    vec![Pace {
        destination: format!("slack:channel:{channel}"),
        count: limits::SLACK_MESSAGES_PER_SECOND,
        per_ms: 1_000,
    }]
}

/// The address of a message by its permalink: its thread, or the one it begins.
pub(super) fn address_of(url: &str, api_host: &str) -> Option<Map<String, Value>> {
    let page = WebPage::read(url)?;
    let is_slack = |host: &str| host.ends_with(".slack.com") || host.ends_with(".slack-gov.com");
    let is_own = page.host == api_host || is_slack(page.host);
    let ["archives", channel, rest @ ..] = page.path.as_slice() else { return None };
    if !is_own || !channel.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let mut address = Map::new();
    address.insert("channel".to_owned(), (*channel).into());
    let message = rest.first().and_then(|message| message.strip_prefix('p'));
    if let Some(message) = message {
        crate::web::number(message)?;
        let (seconds, micros) = message.split_at_checked(message.len().checked_sub(6)?)?;
        let thread = page.parameter("thread_ts").filter(|ts| super::json::moment(ts).is_some());
        let thread = thread.map_or_else(|| format!("{seconds}.{micros}"), str::to_owned);
        address.insert("thread_ts".to_owned(), thread.into());
    }
    Some(address)
}

/// A body as the fields of a form: what is no text is JSON.
fn spelled(body: &Value) -> Vec<(String, String)> {
    let spell = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let body = body.as_object().into_iter().flatten();
    body.map(|(name, value)| (name.clone(), spell(value))).collect()
}

pub(super) fn receipt(channel: &str, ts: &str, thread: Option<&str>) -> Receipt {
    let mut address = Map::new();
    address.insert("channel".to_owned(), channel.into());
    address.insert("ts".to_owned(), ts.into());
    if let Some(thread) = thread {
        address.insert("thread_ts".to_owned(), thread.into());
    }
    let remote_id = format!("message:{channel}:{ts}");
    Receipt { remote_id, address, ..Receipt::default() }
}
