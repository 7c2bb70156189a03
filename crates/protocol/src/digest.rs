//! Digests of what a caller asked for: two share one only if every part of them is the same.

use sha2::{Digest, Sha256};

/// The digest of these parts, each with its length, so that no two lists of parts run together.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
