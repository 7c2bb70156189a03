//! Telling what arrives in chats: the first message of a chat at once, a burst once a second.

use std::collections::HashMap;
use std::sync::Arc;

use hub::Call;
use hub::chats::{Arrival, ChatFollow, follow};
use hub::identity::Follower;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};

use super::chats;
use super::failure;
use super::server::Server;
use super::subscriptions::Sink;
use protocol::limits::mcp as limits;

/// Somebody who follows chats, under the address that was asked for.
pub(super) struct FollowedChats {
    uri: String,
    /// One chat is told of under the address it was asked for; of several each under its own.
    is_pattern: bool,
    followed: ChatFollow,
}

/// Follows the chats behind an address, if reading them would be allowed.
pub(super) async fn follow_chats(
    server: &Server,
    call: &Call,
    uri: &str,
) -> Result<FollowedChats, ErrorData> {
    let refused = |error: &hub::Error| {
        let error = failure::rpc_error(error, call.identity.request_id.to_string());
        failure::about(uri, error)
    };
    let address = chats::address(uri).map_err(|error| refused(&error))?;
    // Through the door first: it knows about scopes and quotas, and leaves an entry.
    let asked = match (address.source.name(), address.chat.name()) {
        (None, _) => server.run(call, "list_sources", json!({})).await,
        (Some(source), chat) => {
            let filter = chat.map_or_else(|| json!({}), |chat| json!({ "chat": chat }));
            let input = json!({ "source": source, "filter": filter, "limit": 1, "offline": true });
            server.run(call, "list_chats", input).await
        }
    };
    asked.map_err(|error| refused(&error))?;
    let followed = follow(call, &address).await.map_err(|error| refused(&error))?;
    Ok(FollowedChats { uri: uri.to_owned(), is_pattern: address.is_pattern(), followed })
}

impl FollowedChats {
    /// The same for somebody who may come with newer tokens.
    pub(super) fn by(self, follower: Arc<Follower>) -> Self {
        Self { followed: self.followed.by(follower), ..self }
    }

    /// Tells of arrivals until there is nothing more to tell, or nobody to tell it to.
    pub(super) async fn pass_on(mut self, sink: Sink) {
        let mut pace = Pace::default();
        let uri = (!self.is_pattern).then_some(self.uri);
        loop {
            let arrived = {
                // Asked to the end, because what it has begun to read must not be forgotten.
                let next = self.followed.next();
                tokio::pin!(next);
                loop {
                    let due = pace.next_due();
                    tokio::select! {
                        biased;
                        arrived = &mut next => break arrived,
                        () = until(due) => {
                            if !tell(&sink, uri.as_deref(), pace.due(Instant::now())).await {
                                return;
                            }
                        }
                    }
                }
            };
            let (now, is_over) = (Instant::now(), arrived.is_none());
            let mut ready: Vec<Arrival> = arrived
                .unwrap_or_default()
                .into_iter()
                .filter_map(|arrival| pace.admit(arrival, now))
                .collect();
            if is_over && self.followed.is_allowed() {
                ready.extend(pace.rest());
            }
            if !tell(&sink, uri.as_deref(), ready).await || is_over {
                return;
            }
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn tell(sink: &Sink, uri: Option<&str>, arrivals: Vec<Arrival>) -> bool {
    for arrival in arrivals {
        let uri = uri.unwrap_or(&arrival.uri);
        if !sink.updated(uri, about(&arrival)).await {
            return false;
        }
    }
    true
}

/// What an update says of itself.
fn about(arrival: &Arrival) -> Map<String, Value> {
    let newest = arrival.messages.iter().rev().take(limits::UPDATE_MESSAGES_MAX).rev();
    let ids: Vec<String> = newest.map(ToString::to_string).collect();
    let fields = [
        ("source", json!(arrival.source)),
        ("chat_id", json!(arrival.chat_id)),
        ("chat", json!(arrival.chat)),
        ("uri", json!(arrival.uri)),
        ("message_ids", json!(ids)),
        ("message_count", json!(arrival.messages.len())),
        ("cursor", json!(arrival.cursor)),
    ];
    fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
}

/// Holds back what comes too soon after something else of the same chat.
#[derive(Default)]
struct Pace {
    chats: HashMap<(String, String), Paced>,
}

struct Paced {
    /// When the chat may be told of again.
    due: Instant,
    waiting: Option<Arrival>,
}

impl Pace {
    /// An arrival, if it may be told now.
    fn admit(&mut self, arrival: Arrival, now: Instant) -> Option<Arrival> {
        self.chats.retain(|_, paced| paced.due > now || paced.waiting.is_some());
        let key = (arrival.source.clone(), arrival.chat_id.clone());
        let Some(paced) = self.chats.get_mut(&key) else {
            // Beyond the limit nothing is held back: told too often is better than not at all.
            if self.chats.len() < limits::PACED_CHATS_MAX {
                let due = now + limits::ARRIVALS_INTERVAL;
                self.chats.insert(key, Paced { due, waiting: None });
            }
            return Some(arrival);
        };
        match &mut paced.waiting {
            None => paced.waiting = Some(arrival),
            Some(waiting) => {
                waiting.messages.extend(arrival.messages);
                waiting.chat = arrival.chat;
                waiting.cursor = arrival.cursor;
            }
        }
        None
    }

    /// When the next of those that wait may be told.
    fn next_due(&self) -> Option<Instant> {
        let waiting = self.chats.values().filter(|paced| paced.waiting.is_some());
        waiting.map(|paced| paced.due).min()
    }

    /// What may be told now of that which waits.
    fn due(&mut self, now: Instant) -> Vec<Arrival> {
        let mut ready = Vec::new();
        for paced in self.chats.values_mut().filter(|paced| paced.due <= now) {
            if let Some(arrival) = paced.waiting.take() {
                paced.due = now + limits::ARRIVALS_INTERVAL;
                ready.push(arrival);
            }
        }
        ready
    }

    /// Everything that waits.
    fn rest(&mut self) -> Vec<Arrival> {
        self.chats.drain().filter_map(|(_, paced)| paced.waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(chat: &str, cursor: &str) -> Arrival {
        Arrival {
            source: "telegram".to_owned(),
            chat_id: chat.to_owned(),
            chat: chat.to_owned(),
            uri: format!("messages://telegram/{chat}"),
            messages: Vec::new(),
            cursor: cursor.to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_goes_at_once_and_a_burst_once_a_second() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert!(pace.admit(arrival("a", "1"), now).is_some());
        assert!(pace.admit(arrival("b", "2"), now).is_some(), "another chat is not held back");
        assert!(pace.admit(arrival("a", "3"), now).is_none());
        assert!(pace.admit(arrival("a", "4"), now).is_none());
        assert_eq!(pace.next_due(), Some(now + limits::ARRIVALS_INTERVAL));
        assert_eq!(pace.due(now), []);
        let later = now + limits::ARRIVALS_INTERVAL;
        assert_eq!(pace.due(later), [arrival("a", "4")], "together, up to the last");
        assert!(pace.admit(arrival("a", "5"), later).is_none(), "and the pace goes on");
        assert_eq!(pace.rest(), [arrival("a", "5")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_chat_that_fell_silent_is_forgotten() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert!(pace.admit(arrival("a", "1"), now).is_some());
        assert_eq!(pace.next_due(), None);
        let later = now + limits::ARRIVALS_INTERVAL;
        assert!(pace.admit(arrival("b", "2"), later).is_some());
        assert_eq!(pace.chats.len(), 1);
        assert!(pace.admit(arrival("a", "3"), later).is_some());
    }
}
