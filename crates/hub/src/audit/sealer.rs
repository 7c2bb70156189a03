//! The sealer: a duty that puts entries under seals soon after they were made.
//!
//! Entries are read and hashed outside any change; the change itself adds one row. On PostgreSQL several
//! hubs may try at once: a seal's number is unique, and whoever comes second starts over.

use std::sync::Arc;

use protocol::audit::{FIRST_PREVIOUS, Hash, root};
use protocol::{Timestamp, limits};
use store::{SealHead, SealRow, Store, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::error::AuditError;
use super::keys::SealKey;
use super::record::seal_hash;

/// How often in a row another hub may be faster before this one pauses.
const LOST_RACES_MAX: u32 = 8;

/// Whether the last attempt left anything unsealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    CaughtUp,
    Behind,
}

/// Puts entries under seals.
#[derive(Clone)]
pub struct Sealer {
    store: Store,
    key: Arc<SealKey>,
}

impl Sealer {
    /// A sealer of a store's trail that signs with a key.
    pub fn new(store: Store, key: SealKey) -> Self {
        Self { store, key: Arc::new(key) }
    }

    /// The key that signs.
    pub fn key(&self) -> &SealKey {
        &self.key
    }

    /// Seals every entry that is there now; answers how many this sealer sealed.
    pub async fn seal_once(&self, now: Timestamp) -> Result<usize, AuditError> {
        // A transaction of its own: entries are read in a later one, which sees all that it waited for.
        let settled = self.store.read(|tx| Ok::<_, AuditError>(tx.settled_audit_id()?)).await?;
        let mut sealed = 0;
        let mut lost_races = 0;
        loop {
            let Some((head, seal)) = self.next_seal(settled, now).await? else {
                return Ok(sealed);
            };
            let entries = usize::try_from(seal.entries).unwrap_or(0);
            if self.add(head, seal).await? {
                sealed += entries;
                lost_races = 0;
            } else {
                lost_races += 1;
                if lost_races == LOST_RACES_MAX {
                    return Err(AuditError::Contended);
                }
            }
        }
    }

    /// Seals soon after each ring of the bell, and once more when it is stopped.
    ///
    /// Ring it after a commit that made entries. Without a ring nothing runs.
    pub async fn run(
        self,
        clock: impl Fn() -> Timestamp + Send,
        stop: CancellationToken,
        bell: Arc<Notify>,
    ) {
        // The last run may have left entries behind.
        let mut standing = self.try_seal(clock(), Standing::CaughtUp).await;
        while !stop.is_cancelled() {
            if standing == Standing::CaughtUp {
                tokio::select! {
                    () = bell.notified() => {}
                    () = stop.cancelled() => break,
                }
            }
            // Entries that follow shortly share the seal.
            tokio::select! {
                () = tokio::time::sleep(limits::AUDIT_SEAL_EVERY) => {}
                () = stop.cancelled() => break,
            }
            standing = self.try_seal(clock(), standing).await;
        }
        self.try_seal(clock(), standing).await;
    }

    async fn try_seal(&self, now: Timestamp, before: Standing) -> Standing {
        match self.seal_once(now).await {
            Ok(entries) => {
                tracing::debug!(entries, "sealed the audit trail");
                return Standing::CaughtUp;
            }
            Err(AuditError::Contended | AuditError::Store(StoreError::Overloaded)) => {}
            // Said once, however often it is tried again.
            Err(error) if before == Standing::CaughtUp => {
                let source = std::error::Error::source(&error);
                tracing::error!(%error, source, "the audit trail was not sealed; trying again");
            }
            Err(_) => {}
        }
        Standing::Behind
    }

    async fn next_seal(
        &self,
        settled: i64,
        now: Timestamp,
    ) -> Result<Option<(Option<SealHead>, SealRow)>, AuditError> {
        let key = Arc::clone(&self.key);
        let work = move |tx: &mut store::Tx<'_>| {
            let head = tx.seal_head()?;
            let from = head.as_ref().map_or(0, |head| head.last_id).saturating_add(1);
            let most = limits::AUDIT_SEAL_ENTRIES_MAX;
            let leaves =
                tx.of_audit_between((from, settled), most, |entry| (entry.id, entry.hash()))?;
            let seal = make_seal(head.as_ref(), &leaves, now, &key);
            Ok::<_, StoreError>(seal.map(|seal| (head, seal)))
        };
        Ok(self.store.read(work).await?)
    }

    /// Adds a seal on the head it was made for; `false` when another came before it.
    async fn add(&self, head: Option<SealHead>, seal: SealRow) -> Result<bool, AuditError> {
        let work = move |tx: &mut store::Tx<'_>| {
            if tx.seal_head()? != head {
                return Ok(false);
            }
            tx.insert_seal(&seal)?;
            Ok::<_, StoreError>(true)
        };
        Ok(self.store.write(work).await?)
    }
}

fn make_seal(
    head: Option<&SealHead>,
    entries: &[(i64, Hash)],
    now: Timestamp,
    key: &SealKey,
) -> Option<SealRow> {
    let ((first_id, _), (last_id, _)) = (entries.first()?, entries.last()?);
    let leaves: Vec<Hash> = entries.iter().map(|(_, hash)| *hash).collect();
    let root = root(&leaves);
    let mut seal = SealRow {
        id: head.map_or(0, |head| head.id).saturating_add(1),
        first_id: *first_id,
        last_id: *last_id,
        entries: i64::try_from(entries.len()).ok()?,
        sealed: now,
        leaves: leaves.concat(),
        root: root.to_vec(),
        previous: head.map_or(FIRST_PREVIOUS.to_vec(), |head| head.hash.clone()),
        hash: Vec::new(),
        key_id: key.id().to_owned(),
        signature: Vec::new(),
    };
    seal.hash = seal_hash(&seal, &root).to_vec();
    seal.signature = key.sign(&seal.hash);
    Some(seal)
}
