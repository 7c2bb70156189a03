//! Entries on their way to the trail, off the request's path. What the trail cannot take yet waits here;
//! when no more can wait, whoever asks waits too, and is told why if that takes too long.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use protocol::limits;
use store::StoreError;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::commitment::Commitment;
use super::object::Asked;
use crate::call::Identity;
use crate::error::{Error, Result};

/// An entry that owns its text.
#[derive(Clone, Debug)]
pub(crate) struct OwnedEntry {
    pub(crate) call: Arc<Identity>,
    pub(crate) action: &'static str,
    pub(crate) asked: Asked,
    pub(crate) outcome: &'static str,
    pub(crate) request: Commitment,
    pub(crate) response: Commitment,
}

/// Why entries wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Delay {
    /// There are many of them.
    Busy = 0,
    /// The disk is full.
    DiskFull = 1,
    /// The database is out of reach.
    Unreachable = 2,
}

impl Delay {
    /// Whether an error passes by itself or with a person's help, so that what waits is tried again.
    pub(crate) fn of(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::Full => Some(Self::DiskFull),
            error if error.is_outage() => Some(Self::Unreachable),
            StoreError::Closed | StoreError::Failed => None,
            // Another job of the batch may have broken it off, or a lock taken too long. What was
            // answered must be entered: as long as it is not, whoever reads waits.
            _ => Some(Self::Busy),
        }
    }
}

impl Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the hub is behind with entering them",
            Self::DiskFull => "the disk that holds the data folder is full",
            Self::Unreachable => "the database cannot be reached right now",
        })
    }
}

/// Where a call leaves its entry.
#[derive(Debug)]
pub(crate) struct EntryQueue {
    entries: mpsc::Sender<OwnedEntry>,
    delay: Arc<AtomicU8>,
}

/// What waits, for the duty that enters it.
#[derive(Debug)]
pub(crate) struct WaitingEntries {
    pub(crate) entries: mpsc::Receiver<OwnedEntry>,
    delay: Arc<AtomicU8>,
}

impl EntryQueue {
    /// A queue in which so many entries can wait.
    pub(crate) fn new(size: usize) -> (Self, WaitingEntries) {
        let (sender, entries) = mpsc::channel(size);
        let delay = Arc::<AtomicU8>::default();
        let waiting = WaitingEntries { entries, delay: Arc::clone(&delay) };
        (Self { entries: sender, delay }, waiting)
    }

    /// Leaves an entry. A full queue makes the caller wait: what is not audited must not be answered.
    pub(crate) async fn add(&self, entry: OwnedEntry) -> Result<()> {
        let entry = match self.entries.try_send(entry) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(Error::Stopping),
            Err(TrySendError::Full(entry)) => entry,
        };
        let added = tokio::time::timeout(limits::AUDIT_READS_WAIT_MAX, self.entries.send(entry));
        match added.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::Stopping),
            Err(_) => Err(Error::Unaudited(self.delay())),
        }
    }

    fn delay(&self) -> Delay {
        match self.delay.load(Ordering::Relaxed) {
            full if full == Delay::DiskFull as u8 => Delay::DiskFull,
            gone if gone == Delay::Unreachable as u8 => Delay::Unreachable,
            _ => Delay::Busy,
        }
    }
}

impl WaitingEntries {
    /// Notes why entries wait.
    pub(crate) fn note(&self, delay: Delay) {
        self.delay.store(delay as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ErrorCode, Timestamp};

    use super::*;
    use crate::clock::SystemEntropy;

    fn entry() -> OwnedEntry {
        let identity =
            Identity::of_service("wk", "a reader", Timestamp::from_ms(0), &SystemEntropy);
        let nothing = Commitment([0; 32]);
        OwnedEntry {
            call: Arc::new(identity),
            action: "get_thread",
            asked: Asked::default(),
            outcome: "ok",
            request: nothing,
            response: nothing,
        }
    }

    #[test]
    fn only_a_store_that_takes_nothing_any_more_is_given_up() {
        // Another job of the batch ended the transaction.
        assert_eq!(Delay::of(&StoreError::Broken), Some(Delay::Busy));
        assert_eq!(Delay::of(&StoreError::Full), Some(Delay::DiskFull));
        assert_eq!(Delay::of(&StoreError::Unreachable(None)), Some(Delay::Unreachable));
        assert_eq!(Delay::of(&StoreError::Closed), None);
        assert_eq!(Delay::of(&StoreError::Failed), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_no_entry_can_be_made_of_is_told_why_and_what_to_do() {
        let (queue, mut waiting) = EntryQueue::new(1);
        queue.add(entry()).await.unwrap();
        for (delay, code) in [
            (Delay::Busy, ErrorCode::Overloaded),
            (Delay::DiskFull, ErrorCode::StorageFull),
            (Delay::Unreachable, ErrorCode::Unavailable),
        ] {
            waiting.note(delay);
            let refused = queue.add(entry()).await.unwrap_err();
            assert_eq!(refused.code(), code);
            assert!(refused.to_string().contains(&delay.to_string()), "{refused}");
            assert!(refused.to_string().contains("audit trail"), "{refused}");
            assert!(refused.hint().is_some() && code.is_retryable(), "{refused}");
        }
        // Somebody who waits is let in as soon as there is room.
        let (added, first) = tokio::join!(queue.add(entry()), waiting.entries.recv());
        added.unwrap();
        assert!(first.is_some());
    }

    #[tokio::test]
    async fn after_its_end_nothing_is_taken() {
        let (queue, waiting) = EntryQueue::new(1);
        drop(waiting);
        assert!(matches!(queue.add(entry()).await, Err(Error::Stopping)));
    }
}
