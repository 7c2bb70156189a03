//! The bot and what tests do with it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::routing::any;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::super::FakeServer;
use super::{api, webhook};

/// The token of the only bot.
pub const TOKEN: &str = "123456:fake-token_ABC";
/// The bot's id.
pub const BOT_ID: i64 = 123_456;

/// A failure that the next call of a method answers with.
#[derive(Clone, Debug)]
pub enum Failure {
    /// 429 with `retry_after` in seconds.
    TooManyRequests(u64),
    /// 409, as if another program polled.
    Conflict,
    /// This status, with a body that is no JSON.
    Status(u16),
    /// It does what it is asked, and never answers.
    Hold,
}

#[derive(Default)]
pub(super) struct Bot {
    pub(super) updates: VecDeque<Value>,
    pub(super) next_update_id: i64,
    pub(super) next_message_id: i64,
    pub(super) polls: u64,
    pub(super) released: u64,
    pub(super) waiting: usize,
    pub(super) failures: BTreeMap<String, VecDeque<Failure>>,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) webhook: Option<(String, Option<String>)>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) sees_groups: bool,
    pub(super) clock_seconds: i64,
}

pub(super) struct Shared {
    pub(super) bot: Mutex<Bot>,
    pub(super) changed: Notify,
}

/// A running fake of the Bot API.
pub struct FakeTelegram {
    server: FakeServer,
    shared: Arc<Shared>,
    caller: JoinHandle<()>,
}

impl Shared {
    pub(super) fn bot(&self) -> MutexGuard<'_, Bot> {
        self.bot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is so.
    pub(super) async fn until<T>(&self, mut found: impl FnMut(&mut Bot) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let answer = found(&mut self.bot());
            if let Some(answer) = answer {
                return answer;
            }
            changed.await;
        }
    }
}

impl FakeTelegram {
    /// Starts a bot without updates that reads everything in groups.
    pub async fn start() -> Self {
        let bot = Bot {
            next_update_id: 1_000,
            next_message_id: 500,
            sees_groups: true,
            clock_seconds: 1_700_000_000,
            ..Bot::default()
        };
        let shared = Arc::new(Shared { bot: Mutex::new(bot), changed: Notify::new() });
        let routes = Router::new()
            .route("/file/{bot}/{*path}", any(api::file))
            .route("/{bot}/{method}", any(api::method))
            .with_state(Arc::clone(&shared));
        let server = FakeServer::start(routes).await;
        #[expect(clippy::disallowed_methods, reason = "a fake is awaited by nobody")]
        let caller = tokio::spawn(webhook::call(Arc::clone(&shared)));
        Self { server, shared, caller }
    }

    /// The address to give as `base_url`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Makes something happen; answers with the update's id.
    pub fn inject(&self, kind: &str, body: Value) -> i64 {
        let mut bot = self.shared.bot();
        let update_id = bot.next_update_id;
        bot.next_update_id += 1;
        let mut update = Map::new();
        update.insert("update_id".to_owned(), update_id.into());
        update.insert(kind.to_owned(), body);
        bot.updates.push_back(Value::Object(update));
        drop(bot);
        self.shared.changed.notify_waiters();
        update_id
    }

    /// A text in a chat; answers with the message's id.
    pub fn say(&self, chat: &Value, from: &Value, text: &str) -> i64 {
        let (message_id, date) = {
            let mut bot = self.shared.bot();
            bot.next_message_id += 1;
            bot.clock_seconds += 1;
            (bot.next_message_id, bot.clock_seconds)
        };
        let kind = if chat["type"] == "channel" { "channel_post" } else { "message" };
        let from = (kind == "message").then_some(from);
        let message = json!({
            "message_id": message_id, "date": date, "chat": chat, "text": text, "from": from,
        });
        self.inject(kind, message);
        message_id
    }

    /// Sets the clock that messages are dated by, in seconds since 1970; each message lets it tick.
    pub fn set_clock(&self, seconds: i64) {
        self.shared.bot().clock_seconds = seconds;
    }

    /// The next call of this method fails.
    pub fn fail_next(&self, method: &str, failure: Failure) {
        self.shared.bot().failures.entry(method.to_owned()).or_default().push_back(failure);
    }

    /// Ends the poll that waits, with nothing in it.
    pub fn release_poll(&self) {
        let mut bot = self.shared.bot();
        bot.released = bot.polls;
        drop(bot);
        self.shared.changed.notify_waiters();
    }

    /// Another program begins to poll: whoever waits is sent away.
    pub fn steal_poll(&self) {
        self.shared.bot().polls += 1;
        self.shared.changed.notify_waiters();
    }

    /// Somebody else confirms everything there is, as a second poller does.
    pub fn lose_updates(&self) {
        self.shared.bot().updates.clear();
    }

    /// Waits until a poll waits.
    pub async fn poll_waits(&self) {
        self.shared.until(|bot| (bot.waiting > 0).then_some(())).await;
    }

    /// Waits until this method was called so many times; answers with what the last call said.
    pub async fn called(&self, method: &str, times: usize) -> Value {
        self.shared
            .until(|bot| {
                let mut calls = bot.calls.iter().filter(|(called, _)| called == method);
                calls.nth(times.checked_sub(1)?).map(|(_, said)| said.clone())
            })
            .await
    }

    /// How often this method was called.
    pub fn calls(&self, method: &str) -> usize {
        self.shared.bot().calls.iter().filter(|(called, _)| called == method).count()
    }

    /// Updates that nobody has confirmed.
    pub fn unconfirmed(&self) -> usize {
        self.shared.bot().updates.len()
    }

    /// Waits until everything is confirmed.
    pub async fn all_confirmed(&self) {
        self.shared.until(|bot| bot.updates.is_empty().then_some(())).await;
    }

    /// Whether privacy mode lets the bot read everything in groups.
    pub fn sees_groups(&self, sees_groups: bool) {
        self.shared.bot().sees_groups = sees_groups;
    }

    /// Puts a file where `getFile` finds it.
    pub fn put_file(&self, file_id: &str, bytes: Vec<u8>) {
        self.shared.bot().files.insert(file_id.to_owned(), bytes);
    }

    /// Sets a webhook, as `setWebhook` does.
    pub fn set_webhook(&self, url: &str, secret: Option<&str>) {
        self.shared.bot().webhook = Some((url.to_owned(), secret.map(str::to_owned)));
        self.shared.changed.notify_waiters();
    }
}

impl Drop for FakeTelegram {
    fn drop(&mut self) {
        self.caller.abort();
    }
}
