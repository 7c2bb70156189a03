//! What takes the facts in these tests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use connector_api::toolkit::{HttpClient, HttpSettings};
use connector_api::{
    Batch, BoxFuture, Connector, ConnectorKind, HookAnswer, ImportError, ImportProgress,
    ImportSink, LinkSettings, Sink, SinkClosed, Skipped,
};
use protocol::Timestamp;
use protocol::chat::Facts;
use testkit::fakes::telegram::TOKEN;
use tokio::sync::Notify;

use crate::telegram::Telegram;

/// A link with these settings beside the token and the address.
pub(super) fn linked(url: &str, more: &[(&str, &str)]) -> Arc<dyn Connector> {
    let mut given = BTreeMap::from([
        ("bot_token".to_owned(), TOKEN.to_owned()),
        ("base_url".to_owned(), url.to_owned()),
    ]);
    given.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let settings = LinkSettings::sorted(Telegram.fields(), &given).unwrap();
    Telegram.connect(&settings, http()).unwrap()
}

pub(super) fn http() -> HttpClient {
    HttpClient::new(&HttpSettings::default()).unwrap()
}

/// A sink that remembers, and fails when it is told to.
pub(super) struct Memory {
    batches: Mutex<Vec<Batch>>,
    changed: Notify,
    fails_once: AtomicBool,
    is_connected: AtomicBool,
    now_ms: AtomicI64,
    woken: Notify,
}

impl Memory {
    pub(super) fn new() -> Self {
        Self {
            batches: Mutex::new(Vec::new()),
            changed: Notify::new(),
            fails_once: AtomicBool::new(false),
            is_connected: AtomicBool::new(false),
            now_ms: AtomicI64::new(1_700_000_000_000),
            woken: Notify::new(),
        }
    }

    pub(super) fn fail_once(&self) {
        self.fails_once.store(true, Ordering::SeqCst);
    }

    pub(super) fn pass(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub(super) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::SeqCst)
    }

    pub(super) fn batches(&self) -> Vec<Batch> {
        self.batches.lock().unwrap().clone()
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let batches = self.batches();
        let messages = batches.iter().flat_map(|batch| &batch.facts.messages);
        messages.map(|message| message.text.clone()).collect()
    }

    pub(super) fn cursor(&self) -> Option<String> {
        self.batches().iter().rev().find_map(|batch| batch.cursor.clone())
    }

    /// Says that nothing more will come.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Waits until that was said.
    pub(super) async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Waits until something is so.
    pub(super) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }
}

impl Sink for Memory {
    fn take(&self, batch: Batch) -> BoxFuture<'_, Result<HookAnswer, SinkClosed>> {
        Box::pin(async move {
            if self.fails_once.swap(false, Ordering::SeqCst) {
                return Err(SinkClosed);
            }
            self.batches.lock().unwrap().push(batch);
            self.changed.notify_waiters();
            Ok(HookAnswer::default())
        })
    }

    fn connected(&self) {
        self.is_connected.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }
}

/// An import's sink that remembers, and stops after some batches.
#[derive(Default)]
pub(super) struct Imported {
    pub(super) batches: Vec<(Facts, u64)>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) progress: Vec<ImportProgress>,
    pub(super) batches_max: Option<usize>,
}

impl Imported {
    pub(super) fn facts(&self) -> Facts {
        let mut all = Facts::default();
        for (facts, _) in &self.batches {
            all.extend(facts.clone());
        }
        all
    }

    pub(super) fn done(&self) -> u64 {
        self.batches.last().map_or(0, |(_, messages)| *messages)
    }
}

impl ImportSink for Imported {
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError> {
        if self.batches_max.is_some_and(|max| self.batches.len() >= max) {
            return Err(ImportError::Stopped("enough".to_owned()));
        }
        self.batches.push((facts, messages));
        Ok(())
    }

    fn progress(&mut self, progress: ImportProgress) {
        self.progress.push(progress);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.skipped.push(skipped);
    }
}
