//! Checkpoints: the trail's newest seal as a signed note, to be kept where the hub cannot reach.

use protocol::audit::{Checkpoint, Hash};
use store::{Store, StoreError};

use super::error::AuditError;
use super::keys::{SealKey, TrustedKeys, signature_fits};

/// The newest checkpoint as a signed note; `None` before the first seal.
///
/// The origin names the hub, such as `example.org/audit`, and stays the same for its whole life.
pub async fn checkpoint(
    store: &Store,
    key: &SealKey,
    origin: &str,
) -> Result<Option<String>, AuditError> {
    let work = |tx: &mut store::Tx<'_>| {
        Ok::<_, StoreError>((tx.seal_head()?, tx.sealed_entries(i64::MIN)?))
    };
    let (head, entries) = store.read(work).await?;
    let Some(head) = head else { return Ok(None) };
    let checkpoint = Checkpoint {
        origin: origin.to_owned(),
        entries: u64::try_from(entries).unwrap_or(0),
        head: Hash::try_from(head.hash.as_slice())
            .map_err(|_| StoreError::Corrupt { what: "hash of the newest audit seal" })?,
        seal: head.id,
        last_id: head.last_id,
    };
    Ok(Some(checkpoint.sign(key.public(), |text| key.sign(text))?))
}

/// Reads a checkpoint's note, believing only a signature by one of the keys.
pub fn open_checkpoint(note: &str, keys: &TrustedKeys) -> Result<Checkpoint, AuditError> {
    Ok(Checkpoint::open(note, keys.public_keys(), signature_fits)?)
}
