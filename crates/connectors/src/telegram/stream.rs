//! Following what happens by long polls. An update is confirmed only after it was committed.

use std::time::Duration;

use connector_api::{Batch, ConnectorError, Result, Sink};
use protocol::chat::Facts;
use protocol::{Timestamp, limits};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::client::Client;
use super::translate;
use super::translate::json::{flag, integer};
use super::watch::{self, Watch};

/// What is asked for. Telegram leaves out reactions and changes of membership unless they are named.
const ALLOWED_UPDATES: [&str; 15] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "business_connection",
    "business_message",
    "edited_business_message",
    "deleted_business_messages",
    "message_reaction",
    "message_reaction_count",
    "my_chat_member",
    "chat_member",
    "chat_join_request",
    "chat_boost",
    "removed_chat_boost",
];

/// Where a stream stands: the first update that is not confirmed yet, and until when nothing was
/// missed. Written as `offset@milliseconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    offset: i64,
    seen_until: Timestamp,
}

impl Place {
    fn read(cursor: &str) -> Option<Self> {
        let (offset, ms) = cursor.split_once('@')?;
        Some(Self {
            offset: offset.parse().ok()?,
            seen_until: Timestamp::from_ms(ms.parse().ok()?),
        })
    }

    fn write(self) -> String {
        format!("{}@{}", self.offset, self.seen_until.as_ms())
    }
}

/// Follows what happens until `stop` or an error.
pub(super) async fn run(
    client: &Client,
    from: Option<String>,
    sink: &dyn Sink,
    stop: &CancellationToken,
) -> Result<()> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Ok(()),
        result = follow(client, from, sink) => result,
    }
}

async fn follow(client: &Client, from: Option<String>, sink: &dyn Sink) -> Result<()> {
    let me = client.api.call("getMe", json!({})).await?;
    let sees_groups = flag(&me, "can_read_all_group_messages");
    let started_at = sink.now();
    let mut place = from.as_deref().and_then(Place::read);
    let mut watch = Watch::new(sees_groups, since(place, started_at));
    let mut is_connected = false;
    loop {
        let asked_at = sink.now();
        let began = tokio::time::Instant::now();
        // The first poll returns at once, because only its answer says that it was accepted.
        let wait = if is_connected { limits::chats::TELEGRAM_POLL_WAIT } else { Duration::ZERO };
        let updates = poll(&client.api, place.map(|place| place.offset), wait).await?;
        if !is_connected {
            is_connected = true;
            sink.connected();
        } else if updates.is_empty() {
            // Something between here and Telegram may answer at once instead of waiting.
            tokio::time::sleep_until(began + limits::chats::TELEGRAM_POLL_PAUSE_MIN).await;
        }
        let now = sink.now();
        let (facts, reached) = turn(&updates, place, &mut watch, &client.bot_id, asked_at, now);
        if facts.is_empty() && reached.map(|to| to.offset) == place.map(|to| to.offset) {
            continue;
        }
        // The next poll confirms these updates, so it must come after the commit.
        sink.take(Batch { facts, cursor: reached.map(Place::write), ..Batch::default() }).await?;
        place = reached;
    }
}

/// Since when everything is seen: an earlier run's end, if Telegram has kept all updates since then.
fn since(place: Option<Place>, now: Timestamp) -> Timestamp {
    match place {
        Some(place) if now.ms_since(place.seen_until) < limits::chats::TELEGRAM_KEPT_MS => {
            place.seen_until.min(now)
        }
        _ => now,
    }
}

async fn poll(api: &Api, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>> {
    let mut parameters = Map::new();
    parameters.insert("timeout".to_owned(), wait.as_secs().into());
    parameters.insert("limit".to_owned(), limits::chats::TELEGRAM_POLL_UPDATES_MAX.into());
    parameters.insert("allowed_updates".to_owned(), json!(ALLOWED_UPDATES));
    if let Some(offset) = offset {
        parameters.insert("offset".to_owned(), offset.into());
    }
    let timeout = limits::chats::TELEGRAM_POLL_TIMEOUT;
    match api.call_within("getUpdates", Value::Object(parameters), timeout).await? {
        Value::Array(updates) if updates.iter().all(|one| integer(one, "update_id").is_some()) => {
            Ok(updates)
        }
        _ => Err(ConnectorError::Protocol {
            reason: "expected a list of numbered updates".to_owned(),
        }),
    }
}

/// What one poll brought, and where the stream stands after it.
fn turn(
    updates: &[Value],
    place: Option<Place>,
    watch: &mut Watch,
    bot_id: &str,
    asked_at: Timestamp,
    now: Timestamp,
) -> (Facts, Option<Place>) {
    let first = updates.iter().find_map(|update| integer(update, "update_id"));
    if let (Some(place), Some(first)) = (place, first)
        && first > place.offset
    {
        // Updates are numbered without gaps: somebody else has taken those in between.
        watch.restart(asked_at);
    }
    let mut facts = Facts::default();
    let mut newest = Timestamp::from_ms(i64::MIN);
    for update in updates {
        facts.extend(translate::update(update, bot_id, now));
        watch.note(update, &mut facts.held);
        newest = watch::date_of(update).map_or(newest, |date| newest.max(date));
    }
    let is_full = updates.len() >= limits::chats::TELEGRAM_POLL_UPDATES_MAX as usize;
    // Behind a full page there is more. Otherwise nothing is left of what came before the poll.
    let seen_until = if is_full { newest.min(now) } else { newest.max(asked_at).min(now) };
    watch.claim(seen_until, updates.is_empty(), &mut facts.held);
    let last = updates.iter().filter_map(|update| integer(update, "update_id")).max();
    let offset = last.map(|last| last.saturating_add(1)).or(place.map(|place| place.offset));
    let seen_until = place.map_or(seen_until, |place| seen_until.max(place.seen_until));
    (facts, offset.map(|offset| Place { offset, seen_until }))
}
