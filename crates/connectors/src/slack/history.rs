//! What was said before, from the newest backwards; one request a page, safe to ask again.
//!
//! Pages go on from the oldest `ts` read, not from a cursor, because cursors expire and a backfill
//! takes days. Replies are not among the messages of a channel: each thread that begins on a page is
//! read after it, before the next page.
//!
//! A reply may come long after its thread began, so a stretch counts as whole only when the chat has
//! been read for some time before it too.

use connector_api::{ConnectorError, FactsPage, Result};
use parking_lot::RwLock;
use protocol::Timestamp;
use protocol::chat::{Facts, HeldFact};
use protocol::limits::slack as limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::api::{Answer, Api, Failure, fields};
use super::event::said;
use super::json::{is, moment, text};
use super::names::Names;
use super::place;

/// Where a backfill stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Place {
    /// The oldest message read; empty before the first page.
    #[serde(skip_serializing_if = "String::is_empty")]
    oldest: String,
    /// Up to when the first page told everything, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    until_ms: Option<i64>,
    /// Whether the chat's beginning has been read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_end: bool,
    /// Threads still to be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<String>,
    /// Where the first of them goes on.
    #[serde(skip_serializing_if = "String::is_empty")]
    cursor: String,
    /// How often it was begun again.
    #[serde(skip_serializing_if = "is_zero")]
    restarts: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A page of a chat. `up_since` is since when a stream has been up, which tells the rest.
pub(super) async fn page(
    api: &Api,
    names: &RwLock<Names>,
    chat_id: &str,
    from: Option<String>,
    up_since: Option<Timestamp>,
) -> Result<FactsPage> {
    let mut place: Place = place::read(from)?;
    let mut facts = match place.threads.first().cloned() {
        Some(thread) => thread_page(api, names, chat_id, &thread, &mut place).await?,
        None => chat_page(api, names, chat_id, up_since, &mut place).await?,
    };
    if !place.threads.is_empty() {
        return Ok(FactsPage { facts, next: Some(place::write(&place)?) });
    }
    facts.held.extend(held(chat_id, &place));
    let next = if place.is_end { None } else { Some(place::write(&place)?) };
    Ok(FactsPage { facts, next })
}

async fn chat_page(
    api: &Api,
    names: &RwLock<Names>,
    chat_id: &str,
    up_since: Option<Timestamp>,
    place: &mut Place,
) -> Result<Facts> {
    let limit = limits::HISTORY_PAGE.to_string();
    let mut asked = fields(&[("channel", chat_id), ("limit", &limit)]);
    if !place.oldest.is_empty() {
        asked.extend(fields(&[("latest", &place.oldest), ("inclusive", "false")]));
    }
    let answer = api.call("conversations.history", asked).await.map_err(Failure::plain)?;
    let messages = answer.list("messages")?;
    let has_more = is(&answer.value, "has_more");
    if has_more && messages.len() == limits::DISTRIBUTED_PAGE {
        api.note_distributed();
    }
    let by_time = |ts: &&str| moment(ts).map(|at| (at, (*ts).to_owned()));
    let all_ts =
        || messages.iter().filter_map(|one| text(one, "ts")).filter(|ts| moment(ts).is_some());
    let newest = all_ts().max_by_key(by_time).and_then(moment);
    let oldest = all_ts().min_by_key(by_time);
    if place.until_ms.is_none() {
        place.until_ms = until(&answer, newest, up_since).map(Timestamp::as_ms);
    }
    if has_more && oldest.is_none_or(|ts| is_no_older(ts, &place.oldest)) {
        let reason = "a page of history does not lead further back".to_owned();
        return Err(ConnectorError::Protocol { reason });
    }
    place.threads = messages.iter().filter_map(thread_of).collect();
    place.is_end = !has_more;
    if let Some(ts) = oldest {
        ts.clone_into(&mut place.oldest);
    }
    Ok(all_said(chat_id, messages, &names.read()))
}

async fn thread_page(
    api: &Api,
    names: &RwLock<Names>,
    chat_id: &str,
    thread: &str,
    place: &mut Place,
) -> Result<Facts> {
    let limit = limits::HISTORY_PAGE.to_string();
    let mut asked = fields(&[("channel", chat_id), ("ts", thread), ("limit", &limit)]);
    if !place.cursor.is_empty() {
        asked.extend(fields(&[("cursor", &place.cursor)]));
    }
    match api.call("conversations.replies", asked).await {
        Ok(answer) => {
            let messages = answer.list("messages")?;
            // The first message of the thread came with its page.
            let replies: Vec<Value> =
                messages.iter().filter(|one| text(one, "ts") != Some(thread)).cloned().collect();
            match answer.next_cursor() {
                Some(cursor) if cursor != place.cursor => place.cursor = cursor,
                _ => leave_thread(place),
            }
            Ok(all_said(chat_id, &replies, &names.read()))
        }
        Err(Failure::InvalidCursor) if place.restarts < limits::RESTARTS_MAX => {
            place.cursor.clear();
            place.restarts += 1;
            Ok(Facts::default())
        }
        // It was deleted in between.
        Err(Failure::ThreadNotFound) => {
            leave_thread(place);
            Ok(Facts::default())
        }
        Err(failure) => Err(failure.plain()),
    }
}

fn leave_thread(place: &mut Place) {
    if !place.threads.is_empty() {
        place.threads.remove(0);
    }
    place.cursor.clear();
    place.restarts = 0;
}

fn all_said(chat_id: &str, messages: &[Value], names: &Names) -> Facts {
    let mut facts = Facts::default();
    for message in messages {
        facts.extend(said(chat_id, message, names));
    }
    // Names of long ago are not today's.
    facts.chats.clear();
    facts
}

/// The thread that a message begins.
fn thread_of(message: &Value) -> Option<String> {
    let ts = text(message, "ts").filter(|ts| moment(ts).is_some())?;
    let replies = message.get("reply_count").and_then(Value::as_u64).unwrap_or(0);
    (replies > 0).then(|| ts.to_owned())
}

/// Whether going on from here would read the same page again.
fn is_no_older(ts: &str, than: &str) -> bool {
    !than.is_empty() && (moment(ts), ts) >= (moment(than), than)
}

/// Up to when an answer tells everything: until it was given, and at least until the stream was up
/// before it was asked for.
fn until(
    answer: &Answer,
    newest: Option<Timestamp>,
    up_since: Option<Timestamp>,
) -> Option<Timestamp> {
    [answer.at, newest, up_since].into_iter().flatten().max()
}

/// The stretch that is whole now.
fn held(chat_id: &str, place: &Place) -> Option<HeldFact> {
    let to = Timestamp::from_ms(place.until_ms?);
    let from = if place.is_end {
        None
    } else {
        Some(moment(&place.oldest)?.plus_ms(limits::THREAD_LOOKBACK_MS))
    };
    let is_something = from.is_none_or(|from| from < to);
    is_something.then(|| HeldFact { chat_id: Some(chat_id.to_owned()), from, to })
}
