//! A sink that remembers, and following a daemon while a story is told.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use connector_api::{Batch, BoxFuture, Connector, HookAnswer, Result, Sink, SinkClosed};
use protocol::Timestamp;
use protocol::chat::Facts;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longer than any test should take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Remembers what it took.
#[derive(Debug, Default)]
pub(super) struct Memory {
    batches: Mutex<Vec<Batch>>,
    connections: AtomicUsize,
    now_ms: AtomicI64,
    changed: Notify,
}

impl Memory {
    /// Lets time pass.
    pub(super) fn pass(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Everything so far, in one.
    pub(super) fn facts(&self) -> Facts {
        let mut all = Facts::default();
        for batch in self.batches.lock().unwrap().iter() {
            all.extend(batch.facts.clone());
        }
        all
    }

    /// The texts by message id: what an archive would hold. The same twice is the same once.
    pub(super) fn texts(&self) -> BTreeMap<String, String> {
        let messages = self.facts().messages.into_iter();
        messages.map(|message| (message.message_id, message.text)).collect()
    }

    /// Where to go on.
    pub(super) fn cursor(&self) -> Option<String> {
        self.batches.lock().unwrap().iter().rev().find_map(|batch| batch.cursor.clone())
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until the facts are as wished.
    pub(super) async fn until(&self, is_enough: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if is_enough(self) {
                    return;
                }
                changed.await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("the facts come");
    }

    pub(super) async fn until_messages(&self, count: usize) {
        self.until(|memory| memory.facts().messages.len() >= count).await;
    }

    pub(super) async fn until_connected(&self, count: usize) {
        self.until(|memory| memory.connections() >= count).await;
    }
}

impl Sink for Memory {
    fn take(&self, batch: Batch) -> BoxFuture<'_, std::result::Result<HookAnswer, SinkClosed>> {
        self.batches.lock().unwrap().push(batch);
        self.changed.notify_waiters();
        Box::pin(std::future::ready(Ok(HookAnswer::default())))
    }

    fn connected(&self) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_750_000_000_000 + self.now_ms.load(Ordering::SeqCst))
    }
}

/// Follows while a story is told, then stops. Gives how the following ended.
pub(super) async fn follow(
    client: &dyn Connector,
    memory: &Memory,
    story: impl Future<Output = ()>,
) -> Result<()> {
    let stop = CancellationToken::new();
    let telling = async {
        story.await;
        stop.cancel();
    };
    let both = async { tokio::join!(client.stream(memory.cursor(), memory, &stop), telling) };
    timeout(PATIENCE, both).await.expect("following ends").0
}

/// Follows until the connection breaks by itself.
pub(super) async fn follow_until_broken(
    client: &dyn Connector,
    memory: &Memory,
    story: impl Future<Output = ()>,
) -> Result<()> {
    let stop = CancellationToken::new();
    let both = async { tokio::join!(client.stream(memory.cursor(), memory, &stop), story) };
    timeout(PATIENCE, both).await.expect("the connection breaks").0
}
