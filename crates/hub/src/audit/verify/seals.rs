//! One seal: whether it follows from the one before, says what was signed, and was signed by a known key.

use protocol::audit::{FIRST_PREVIOUS, hashes_of, root};
use store::SealRow;

use super::Problem;
use crate::audit::keys::{TrustedKeys, signature_fits};
use crate::audit::record::seal_hash;

/// What the next seal must follow.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) id: i64,
    /// The last entry covered so far; `None` before the first seal, when every number is still open.
    pub(super) last_id: Option<i64>,
    pub(super) hash: Vec<u8>,
}

impl Before {
    /// Nothing.
    pub(super) fn first() -> Self {
        Self { id: 0, last_id: None, hash: FIRST_PREVIOUS.to_vec() }
    }

    /// A seal.
    pub(super) fn of(seal: &SealRow) -> Self {
        Self { id: seal.id, last_id: Some(seal.last_id), hash: seal.hash.clone() }
    }

    /// The lowest number that the next seal's entries can have.
    pub(super) fn next_entry(&self) -> i64 {
        self.last_id.map_or(i64::MIN, |id| id.saturating_add(1))
    }

    /// Whether this number is the next seal's.
    pub(super) fn check_number(&self, seal: i64) -> Result<(), Problem> {
        let expected = self.id.saturating_add(1);
        match seal.cmp(&expected) {
            std::cmp::Ordering::Less => Err(Problem::SealInserted { seal }),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(Problem::SealMissing { seal: expected }),
        }
    }

    /// Whether a seal follows.
    pub(super) fn check(&self, seal: &SealRow) -> Result<(), Problem> {
        self.check_number(seal.id)?;
        if seal.previous != self.hash {
            return Err(Problem::ChainBroken { seal: seal.id });
        }
        if seal.first_id < self.next_entry() && seal_hash(seal, &seal.root) == *seal.hash {
            return Err(Problem::RangeWrong { seal: seal.id });
        }
        Ok(())
    }
}

/// Whether a seal, taken alone, is what was signed.
pub(super) fn check_alone(seal: &SealRow, keys: &TrustedKeys) -> Result<(), Problem> {
    let id = seal.id;
    let leaves = hashes_of(&seal.leaves)
        .filter(|leaves| !leaves.is_empty() && i64::try_from(leaves.len()) == Ok(seal.entries));
    let computed = leaves.map(root);
    if *seal.hash != seal_hash(seal, &seal.root) {
        let root_altered = computed.is_some_and(|root| *seal.hash == seal_hash(seal, &root));
        return Err(if root_altered {
            Problem::RootAltered { seal: id }
        } else {
            Problem::HashMismatch { seal: id }
        });
    }
    if computed.is_none_or(|root| *seal.root != root) {
        return Err(Problem::LeavesAltered { seal: id });
    }
    let Some(key) = keys.get(&seal.key_id) else {
        return Err(Problem::UnknownKey { seal: id, key_id: seal.key_id.clone() });
    };
    if !signature_fits(key, &seal.hash, &seal.signature) {
        return Err(Problem::SignatureWrong { seal: id });
    }
    Ok(())
}
