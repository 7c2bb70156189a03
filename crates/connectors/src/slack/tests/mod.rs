//! What the connector promises, against the fake workspace.

mod chats;
mod events;
mod export;
mod hooks;
mod live;
mod mutations;
mod past;
mod relay;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{
    Batch, BoxFuture, Connector, ConnectorKind, HookAnswer, LinkSettings, Sink, SinkClosed,
};
use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::chat::Facts;
use serde_json::Value;
use testkit::fakes::SlackFake;
use testkit::fakes::slack::{APP_TOKEN, BOT_TOKEN, SIGNING_SECRET};
use tokio::sync::{Notify, Semaphore};

use super::Slack;

/// A link to the fake with these settings beside its address.
fn link_with(fake: &SlackFake, given: &[(&str, &str)]) -> Arc<dyn Connector> {
    let mut settings: BTreeMap<String, String> =
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    settings.insert("base_url".to_owned(), fake.base_url());
    let settings = LinkSettings::sorted(Slack.fields(), &settings).unwrap();
    Slack.connect(&settings, HttpClient::new(&HttpSettings::default()).unwrap()).unwrap()
}

/// A link over Socket Mode.
fn link(fake: &SlackFake) -> Arc<dyn Connector> {
    link_with(fake, &[("bot_token", BOT_TOKEN), ("app_token", APP_TOKEN)])
}

/// A link over the Events API.
fn hook_link(fake: &SlackFake) -> Arc<dyn Connector> {
    link_with(fake, &[("bot_token", BOT_TOKEN), ("signing_secret", SIGNING_SECRET)])
}

/// 2026-02-17T12:00:00Z.
const NOON_MS: i64 = 1_771_329_600_000;

/// A sink that keeps everything, has a clock of its own, and may refuse.
struct Kept {
    batches: Mutex<Vec<Batch>>,
    answer: Mutex<HookAnswer>,
    now_ms: AtomicI64,
    connected: AtomicUsize,
    refusals: AtomicUsize,
    gate: Semaphore,
    /// A batch came in, and waits at the gate.
    asked: Notify,
}

impl Kept {
    fn new() -> Self {
        Self {
            batches: Mutex::default(),
            answer: Mutex::default(),
            now_ms: AtomicI64::new(NOON_MS),
            connected: AtomicUsize::new(0),
            refusals: AtomicUsize::new(0),
            gate: Semaphore::new(1_000),
            asked: Notify::new(),
        }
    }

    /// One whose commits wait for [`Self::open`].
    fn shut() -> Self {
        Self { gate: Semaphore::new(0), ..Self::new() }
    }

    fn open(&self) {
        self.gate.add_permits(1_000);
    }

    fn refuse(&self, times: usize) {
        self.refusals.store(times, Ordering::SeqCst);
    }

    fn pass_ms(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    fn all(&self) -> Facts {
        let mut all = Facts::default();
        for batch in self.batches.lock().iter() {
            all.extend(batch.facts.clone());
        }
        all
    }

    fn batches(&self) -> Vec<Batch> {
        self.batches.lock().clone()
    }

    /// From now on, what an interaction is answered.
    fn answer_with(&self, answer: HookAnswer) {
        *self.answer.lock() = answer;
    }

    /// The texts of all messages, as often as they were committed.
    fn texts(&self) -> Vec<String> {
        self.all().messages.into_iter().map(|message| message.text).collect()
    }
}

impl Sink for Kept {
    fn take(&self, batch: Batch) -> BoxFuture<'_, Result<HookAnswer, SinkClosed>> {
        Box::pin(async move {
            self.asked.notify_one();
            self.gate.acquire().await.unwrap().forget();
            let less = |count: usize| count.checked_sub(1);
            if self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
                return Err(SinkClosed);
            }
            let is_interaction = batch.interaction.is_some();
            self.batches.lock().push(batch);
            Ok(if is_interaction { self.answer.lock().clone() } else { HookAnswer::default() })
        })
    }

    fn connected(&self) {
        self.connected.fetch_add(1, Ordering::SeqCst);
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }
}

/// The events of the fixtures, in the documented shapes.
fn fixtures() -> Vec<Value> {
    serde_json::from_str(include_str!("../fixtures/events.json")).unwrap()
}
