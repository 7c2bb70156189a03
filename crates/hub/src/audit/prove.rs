//! Proofs: one entry, the seal over it and the hashes between them, for someone who has nothing else.

use protocol::audit::{Hash, from_hex, hashes_of, includes, prove as merkle_path, to_hex};
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};

use super::detail::DetailState;
use super::error::AuditError;
use super::keys::{TrustedKeys, signature_fits};
use super::record::{EntryRecord, SealRecord, detail_state, entry_hash};

/// An entry and what shows that it was sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The entry.
    pub entry: EntryRecord,
    /// Its place under the seal, counted from 0.
    pub index: u64,
    /// The hashes from the entry to the seal's root, the lowest first, in hexadecimal.
    pub path: Vec<String>,
    /// The seal, without its leaves.
    pub seal: SealRecord,
}

impl Proof {
    /// Whether the entry stands under a seal that one of the keys signed, with the detail that it was
    /// made with, or none where that was erased. A detail without a commitment is not proved.
    pub fn holds(&self, keys: &TrustedKeys) -> bool {
        let path: Option<Vec<Hash>> =
            self.path.iter().map(|text| from_hex(text)?.try_into().ok()).collect();
        let (Some(path), Ok(root)) = (path, Hash::try_from(self.seal.root.as_slice())) else {
            return false;
        };
        let (Ok(size), Some(leaf)) = (u64::try_from(self.seal.entries), self.entry.hash()) else {
            return false;
        };
        let hash = self.seal.computed_hash();
        includes(&root, size, self.index, &leaf, &path)
            && self.entry.detail_fits()
            && hash.as_slice() == self.seal.hash
            && keys
                .get(&self.seal.key_id)
                .is_some_and(|key| signature_fits(key, &hash, &self.seal.signature))
    }
}

/// The proof of an entry.
pub async fn prove(store: &Store, id: i64) -> Result<Proof, AuditError> {
    let work = move |tx: &mut store::Tx<'_>| {
        let entry = tx.audit_entry(id)?;
        let seal = match tx.seal_covering(id)? {
            Some(seal) => tx.seal(seal)?,
            None => None,
        };
        Ok::<_, StoreError>((entry, seal))
    };
    let (entry, seal) = store.read(work).await?;
    let entry = entry.ok_or(AuditError::NoSuchEntry(id))?;
    let mut seal = seal.ok_or(AuditError::NotSealed(id))?;
    let leaves = std::mem::take(&mut seal.leaves);
    let leaves = hashes_of(&leaves).ok_or(AuditError::NotAsSealed(id))?;
    if detail_state(&entry) == DetailState::Differs {
        return Err(AuditError::NotAsSealed(id));
    }
    let hash = entry_hash(&entry, id);
    let index = leaves.iter().position(|leaf| *leaf == hash).ok_or(AuditError::NotAsSealed(id))?;
    let path = merkle_path(leaves, index).ok_or(AuditError::NotAsSealed(id))?;
    Ok(Proof {
        entry: entry.into(),
        index: index as u64,
        path: path.iter().map(|hash| to_hex(hash)).collect(),
        seal: seal.into(),
    })
}
