//! A watch is a set of threads somebody waits for. It carries no messages: whoever is told reads
//! on from its own cursor, so nothing can be lost or doubled here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{ThreadId, limits};
use tokio::sync::{Notify, OnceCell};

use crate::threads::Tail;

/// Everyone who waits.
#[derive(Default)]
pub struct Live {
    index: Mutex<Index>,
    /// Where threads stand in the store, for those who want to watch one before they look at it.
    rows: Mutex<HashMap<ThreadId, i64>>,
}

#[derive(Default)]
struct Index {
    next_id: u64,
    threads: HashMap<i64, Watched>,
    /// How many of them have a tail.
    tails: usize,
    members: HashMap<(String, String), HashMap<u64, Arc<Notify>>>,
    chats: HashMap<u64, Arc<Notify>>,
    work: HashMap<String, HashMap<u64, Arc<Notify>>>,
    outbox: HashMap<u64, Arc<Notify>>,
    everything: HashMap<u64, Arc<Notify>>,
    /// Those who take part in more threads than they watch.
    older: HashMap<u64, Older>,
}

/// One who watches no thread before a row, although it takes part in some of them.
struct Older {
    before: i64,
    notify: Arc<Notify>,
    /// Where something happened; nothing when that were too many to remember.
    rung: Option<Vec<i64>>,
}

impl Older {
    fn ring(&mut self, thread_row: i64) {
        if thread_row >= self.before {
            return;
        }
        if let Some(rows) = &mut self.rung
            && rows.last() != Some(&thread_row)
        {
            rows.push(thread_row);
            if rows.len() > limits::WAIT_OLDER_THREADS_MAX {
                self.rung = None;
            }
        }
        self.notify.notify_one();
    }
}

/// A thread that somebody waits for.
#[derive(Default)]
struct Watched {
    waiters: HashMap<u64, Arc<Notify>>,
    /// What was read of it, at which version.
    tail: Option<(u64, SharedTail)>,
}

/// A thread's tail: whoever wants it first reads it for all. Empty where the thread is gone.
pub(crate) type SharedTail = Arc<OnceCell<Option<Tail>>>;

/// What a watch is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Interest {
    Member(String, String),
    Chats,
    Work(String),
    Outbox,
    Everything,
}

/// A set of threads somebody waits for; it ends when it is dropped.
pub struct Watch {
    live: Arc<Live>,
    id: u64,
    notify: Arc<Notify>,
    threads: HashSet<i64>,
    interests: Vec<Interest>,
    older: Option<Arc<Notify>>,
}

impl Live {
    /// Starts to watch nothing.
    pub fn watch(self: &Arc<Self>) -> Watch {
        let mut index = self.index.lock();
        index.next_id += 1;
        Watch {
            live: Arc::clone(self),
            id: index.next_id,
            notify: Arc::new(Notify::new()),
            threads: HashSet::new(),
            interests: Vec::new(),
            older: None,
        }
    }

    /// Where a thread stands in the store, if somebody has looked. That never changes.
    pub fn thread_row(&self, thread: ThreadId) -> Option<i64> {
        self.rows.lock().get(&thread).copied()
    }

    /// Remembers where a thread stands in the store.
    pub fn know_thread(&self, thread: ThreadId, row: i64) {
        let mut rows = self.rows.lock();
        if rows.len() >= limits::THREAD_ROWS_KNOWN_MAX {
            rows.clear();
        }
        rows.insert(thread, row);
    }

    /// Something was committed in a thread.
    pub fn announce(&self, thread_row: i64) {
        let mut index = self.index.lock();
        let of_thread = index.threads.get(&thread_row).into_iter();
        let of_thread = of_thread.flat_map(|watched| watched.waiters.values());
        for notify in of_thread.chain(index.everything.values()) {
            notify.notify_one();
        }
        index.older.values_mut().for_each(|older| older.ring(thread_row));
    }

    /// Something was committed in a chat.
    pub fn announce_chat(&self, thread_row: i64) {
        self.announce(thread_row);
        for notify in self.index.lock().chats.values() {
            notify.notify_one();
        }
    }

    /// There is work in a workspace that can be taken.
    pub fn announce_work(&self, workspace: &str) {
        let index = self.index.lock();
        for notify in index.work.get(workspace).into_iter().flat_map(HashMap::values) {
            notify.notify_one();
        }
    }

    /// There is something to be sent to a service.
    pub fn announce_outbox(&self) {
        for notify in self.index.lock().outbox.values() {
            notify.notify_one();
        }
    }

    /// An agent became part of a thread.
    pub fn announce_member(&self, workspace: &str, agent: &str) {
        let index = self.index.lock();
        let key = (workspace.to_owned(), agent.to_owned());
        for notify in index.members.get(&key).into_iter().flat_map(HashMap::values) {
            notify.notify_one();
        }
    }

    /// Somebody may have become part of a thread; whoever waits for that looks again.
    pub fn announce_members(&self) {
        let index = self.index.lock();
        for notify in index.members.values().flat_map(HashMap::values) {
            notify.notify_one();
        }
    }

    /// Anything may have happened; everyone looks again.
    pub fn announce_everyone(&self) {
        self.announce_members();
        let index = self.index.lock();
        let of_threads = index.threads.values().flat_map(|watched| watched.waiters.values());
        for notify in of_threads.chain(index.chats.values()) {
            notify.notify_one();
        }
    }

    /// The tail of a thread at a version, shared by those who wait in it; nothing for whoever waits
    /// alone, or when there are too many already.
    pub(crate) fn tail(&self, thread_row: i64, version: u64) -> Option<SharedTail> {
        let mut index = self.index.lock();
        let Index { threads, tails, .. } = &mut *index;
        let watched = threads.get_mut(&thread_row).filter(|watched| watched.waiters.len() > 1)?;
        if let Some((of, tail)) = &watched.tail
            && *of == version
        {
            return Some(Arc::clone(tail));
        }
        if watched.tail.is_none() {
            if *tails >= limits::TAILS_MAX {
                return None;
            }
            *tails += 1;
        }
        let tail = SharedTail::default();
        watched.tail = Some((version, Arc::clone(&tail)));
        Some(tail)
    }

    /// How many watches there are on threads.
    pub fn watchers(&self) -> usize {
        self.index.lock().threads.values().map(|watched| watched.waiters.len()).sum()
    }

    /// How many watches there are on all chats, the hub's own included.
    pub fn chat_watchers(&self) -> usize {
        self.index.lock().chats.len()
    }
}

impl Watch {
    /// Watches one thread more.
    pub fn add_thread(&mut self, thread_row: i64) {
        if !self.threads.insert(thread_row) {
            return;
        }
        let mut index = self.live.index.lock();
        let watched = index.threads.entry(thread_row).or_default();
        watched.waiters.insert(self.id, Arc::clone(&self.notify));
    }

    /// Listens for every thread before a row, because there are too many to watch each;
    /// [`older_changed`](Self::older_changed) tells of them.
    pub fn add_older(&mut self, before: i64) {
        let notify = Arc::clone(self.older.get_or_insert_default());
        let mut index = self.live.index.lock();
        let fresh = || Older { before, notify, rung: Some(Vec::new()) };
        index.older.entry(self.id).or_insert_with(fresh).before = before;
    }

    /// Watches for an agent becoming part of further threads.
    pub fn add_member(&mut self, workspace: &str, agent: &str) {
        let key = (workspace.to_owned(), agent.to_owned());
        let mut index = self.live.index.lock();
        index.members.entry(key.clone()).or_default().insert(self.id, Arc::clone(&self.notify));
        drop(index);
        self.interests.push(Interest::Member(key.0, key.1));
    }

    /// Watches every chat.
    pub fn add_chats(&mut self) {
        self.live.index.lock().chats.insert(self.id, Arc::clone(&self.notify));
        self.interests.push(Interest::Chats);
    }

    /// Watches for work in a workspace.
    pub fn add_work(&mut self, workspace: &str) {
        let mut index = self.live.index.lock();
        let waiters = index.work.entry(workspace.to_owned()).or_default();
        waiters.insert(self.id, Arc::clone(&self.notify));
        drop(index);
        self.interests.push(Interest::Work(workspace.to_owned()));
    }

    /// Watches for things to be sent to services.
    pub fn add_outbox(&mut self) {
        self.live.index.lock().outbox.insert(self.id, Arc::clone(&self.notify));
        self.interests.push(Interest::Outbox);
    }

    /// Watches every thread; for views that follow the whole log.
    pub fn add_everything(&mut self) {
        self.live.index.lock().everything.insert(self.id, Arc::clone(&self.notify));
        self.interests.push(Interest::Everything);
    }

    /// Waits until something happened since the last call. What happens between two calls is kept.
    pub async fn changed(&self) {
        self.notify.notified().await;
    }

    /// Waits until something happened in a thread that is too old to be watched, and answers in which
    /// ones since the last call; nothing when that were too many to remember.
    pub async fn older_changed(&self) -> Option<Vec<i64>> {
        match &self.older {
            Some(notify) => notify.notified().await,
            None => std::future::pending().await,
        }
        let mut index = self.live.index.lock();
        index.older.get_mut(&self.id)?.rung.replace(Vec::new())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut index = self.live.index.lock();
        index.older.remove(&self.id);
        for row in self.threads.drain() {
            index.forget_thread(row, self.id);
        }
        for interest in self.interests.drain(..) {
            match interest {
                Interest::Member(workspace, agent) => {
                    forget(&mut index.members, &(workspace, agent), self.id);
                }
                Interest::Chats => {
                    index.chats.remove(&self.id);
                }
                Interest::Work(workspace) => forget(&mut index.work, &workspace, self.id),
                Interest::Outbox => {
                    index.outbox.remove(&self.id);
                }
                Interest::Everything => {
                    index.everything.remove(&self.id);
                }
            }
        }
    }
}

impl Index {
    fn forget_thread(&mut self, row: i64, id: u64) {
        let Some(watched) = self.threads.get_mut(&row) else { return };
        watched.waiters.remove(&id);
        if watched.waiters.is_empty() {
            self.tails -= usize::from(watched.tail.is_some());
            self.threads.remove(&row);
        }
    }
}

fn forget<K: std::hash::Hash + Eq>(
    map: &mut HashMap<K, HashMap<u64, Arc<Notify>>>,
    key: &K,
    id: u64,
) {
    if let Some(waiters) = map.get_mut(key) {
        waiters.remove(&id);
        if waiters.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_happens_before_the_wait_is_not_lost() {
        let live = Arc::new(Live::default());
        let mut watch = live.watch();
        watch.add_thread(7);
        live.announce(7);
        watch.changed().await;
    }

    #[test]
    fn a_tail_is_shared_until_the_thread_changes_or_nobody_waits() {
        let live = Arc::new(Live::default());
        let mut one = live.watch();
        one.add_thread(7);
        assert!(live.tail(7, 1).is_none(), "whoever waits alone shares nothing");
        let mut other = live.watch();
        other.add_thread(7);
        let tail = live.tail(7, 1).unwrap();
        assert!(Arc::ptr_eq(&tail, &live.tail(7, 1).unwrap()));
        assert!(!Arc::ptr_eq(&tail, &live.tail(7, 2).unwrap()));
        assert_eq!(live.index.lock().tails, 1);
        drop(one);
        drop(other);
        let index = live.index.lock();
        assert!(index.threads.is_empty() && index.tails == 0);
    }

    #[tokio::test]
    async fn whoever_watches_too_few_threads_is_told_of_older_ones() {
        let live = Arc::new(Live::default());
        let mut watch = live.watch();
        let told = |watch: &Watch| futures_util::FutureExt::now_or_never(watch.older_changed());
        live.announce(3);
        assert!(told(&watch).is_none(), "it did not ask");
        watch.add_thread(7);
        watch.add_older(7);
        for row in [7, 8, 3, 3, 5] {
            live.announce(row);
        }
        assert_eq!(told(&watch), Some(Some(vec![3, 5])));
        assert!(told(&watch).is_none(), "all was told");
        watch.changed().await;
        watch.add_older(4);
        live.announce(5);
        assert!(told(&watch).is_none(), "it is watched by now");
        let many = i64::try_from(limits::WAIT_OLDER_THREADS_MAX).unwrap();
        (-many..=0).for_each(|row| live.announce(row));
        assert_eq!(told(&watch), Some(None));
        live.announce(1);
        assert_eq!(told(&watch), Some(Some(vec![1])));
        drop(watch);
        assert!(live.index.lock().older.is_empty());
    }

    #[tokio::test]
    async fn others_are_not_woken_and_nothing_stays_behind() {
        let live = Arc::new(Live::default());
        let mut watch = live.watch();
        watch.add_thread(7);
        watch.add_member("w", "a");
        live.announce(8);
        let woken = futures_util::FutureExt::now_or_never(watch.changed());
        assert!(woken.is_none());
        live.announce_member("w", "a");
        watch.changed().await;
        watch.add_work("w");
        watch.add_outbox();
        live.announce_work("other");
        assert!(futures_util::FutureExt::now_or_never(watch.changed()).is_none());
        live.announce_work("w");
        watch.changed().await;
        live.announce_outbox();
        watch.changed().await;
        drop(watch);
        let index = live.index.lock();
        assert!(index.threads.is_empty() && index.members.is_empty());
        assert_eq!(index.tails, 0);
        assert!(index.work.is_empty() && index.outbox.is_empty());
    }
}
