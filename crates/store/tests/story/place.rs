//! A throw-away store with a thread or two in it.

use std::sync::atomic::{AtomicU64, Ordering};

use protocol::{TaskId, ThreadId, ThreadType, Timestamp, WorkId};
use testkit::On;
use waystation_store::{NewLink, NewThread, NewWork, Result, Settings, Store, StoreError, Tx};

/// Runs a story on both databases.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::place::Place::new(testkit::On::Sqlite)).await; })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::place::Place::new(testkit::On::Postgres)).await; })*
        }
    };
}
pub(crate) use on_both;

pub(crate) const WORKSPACE: &str = "wk_mobile_core";
pub(crate) const QUEUE: &str = "default";

/// A throw-away store.
pub(crate) struct Place {
    pub(crate) store: Store,
    _folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(on: On) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        // The blocking client must not be used on an async thread.
        let store = std::thread::spawn(move || {
            let settings = match on {
                On::Sqlite => Settings::Sqlite { folder: path, readers: 2 },
                On::Postgres => {
                    let url = testkit::postgres::fresh_database();
                    Settings::Postgres { url, connections: 8 }
                }
            };
            Store::open(&settings).unwrap()
        });
        Self { store: store.join().unwrap(), _folder: folder }
    }

    /// A change that must succeed.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        let done: std::result::Result<T, StoreError> = self.store.write(work).await;
        done.unwrap()
    }

    /// A link of a workspace, by its row.
    pub(crate) async fn link(&self, workspace: &'static str) -> i64 {
        self.write(move |tx| {
            tx.put_link(&NewLink {
                workspace,
                name: "github",
                service: "github",
                is_live: true,
                settings: "{}",
                secrets: None,
                account: "@acme",
                created_by: "boss",
                at: at(0),
            })
        })
        .await
    }

    /// A thread, by its row.
    pub(crate) async fn thread(&self) -> i64 {
        let id = ThreadId::new(at(0), unique());
        self.write(move |tx| {
            tx.insert_thread(&NewThread {
                id,
                workspace: WORKSPACE,
                title: "A thread",
                thread_type: ThreadType::Conversation,
                created_by: "link:github",
                participants: &[],
                at: at(0),
            })
        })
        .await
    }

    /// Work about the message of this number.
    pub(crate) async fn add_work(&self, thread_row: i64, seq: i64) -> WorkId {
        let id = WorkId::new(at(seq), unique());
        let task = TaskId::new(at(0), [1; 10]);
        self.write(move |tx| {
            let (workspace, queue, at) = (WORKSPACE, QUEUE, at(seq));
            tx.insert_work(&NewWork { workspace, queue, thread_row, seq, task, id, at })
        })
        .await;
        id
    }

    /// Closes the store in order.
    pub(crate) async fn close(self) {
        let store = self.store.clone();
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }
}

/// So many milliseconds after the beginning.
pub(crate) fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_771_329_600_000 + ms)
}

/// Ten bytes that nobody has yet.
pub(crate) fn unique() -> [u8; 10] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}
