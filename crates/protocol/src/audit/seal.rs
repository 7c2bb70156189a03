//! The hash of a seal, which is what gets signed and what the next seal points back to.

use sha2::{Digest, Sha256};

use super::bytes::{Encoder, to_hex};
use super::merkle::Hash;

const DOMAIN: &str = "waystation/audit-seal/v1";
/// Bytes of a public key's hash that name the key.
const KEY_ID_BYTES: usize = 8;

/// What the first seal has in place of the hash of the seal before.
pub const FIRST_PREVIOUS: Hash = [0; 32];

/// What a seal promises.
#[derive(Clone, Copy, Debug)]
pub struct Seal<'a> {
    /// Its number: 1, 2, 3, …
    pub id: i64,
    /// The first entry's number.
    pub first_id: i64,
    /// The last entry's number.
    pub last_id: i64,
    /// How many entries.
    pub entries: i64,
    /// When it was made, in milliseconds since 1970.
    pub sealed_ms: i64,
    /// The Merkle root over the entries' hashes.
    pub root: &'a [u8],
    /// The hash of the seal before.
    pub previous: &'a [u8],
    /// Which key signs it.
    pub key_id: &'a str,
}

impl Seal<'_> {
    /// The seal's hash: SHA-256 of the domain and every field in the order of the struct.
    pub fn hash(&self) -> Hash {
        let bytes = Encoder::new(DOMAIN)
            .number(self.id)
            .number(self.first_id)
            .number(self.last_id)
            .number(self.entries)
            .number(self.sealed_ms)
            .bytes(self.root)
            .bytes(self.previous)
            .bytes(self.key_id.as_bytes())
            .finish();
        Sha256::digest(bytes).into()
    }
}

/// The hashes that stand one after the other; `None` when the last is not whole.
pub fn hashes_of(leaves: &[u8]) -> Option<&[Hash]> {
    let (hashes, rest) = leaves.as_chunks::<32>();
    rest.is_empty().then_some(hashes)
}

/// The name of a public key: the beginning of its hash, in hexadecimal.
pub fn key_id(public_key: &[u8]) -> String {
    let mut name = to_hex(&Sha256::digest(public_key));
    name.truncate(KEY_ID_BYTES * 2);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Seal<'_> = Seal {
        id: 3,
        first_id: 7,
        last_id: 9,
        entries: 3,
        sealed_ms: 1_771_329_601_000,
        root: &[0x33; 32],
        previous: &[0x44; 32],
        key_id: "0123456789abcdef",
    };

    /// The vector printed in `docs/guides/audit.md`.
    #[test]
    fn the_published_vector_holds() {
        let expected = "8d2bdc6c80aa5d8ef1303fac39dde9926601faefb6fbb78ab7b729340f4d7390";
        assert_eq!(to_hex(&EXAMPLE.hash()), expected);
    }

    #[test]
    fn every_field_counts() {
        let changed = [
            Seal { id: 4, ..EXAMPLE },
            Seal { first_id: 6, ..EXAMPLE },
            Seal { last_id: 8, ..EXAMPLE },
            Seal { entries: 2, ..EXAMPLE },
            Seal { sealed_ms: 0, ..EXAMPLE },
            Seal { root: &[0; 32], ..EXAMPLE },
            Seal { root: &[0x33; 31], ..EXAMPLE },
            Seal { previous: &[0; 32], ..EXAMPLE },
            Seal { key_id: "", ..EXAMPLE },
        ];
        let mut hashes: Vec<Hash> = changed.iter().map(Seal::hash).collect();
        hashes.push(EXAMPLE.hash());
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), changed.len() + 1);
    }

    #[test]
    fn leaves_are_whole_hashes() {
        assert_eq!(hashes_of(&[1; 64]), Some([[1; 32]; 2].as_slice()));
        assert_eq!(hashes_of(&[1; 63]), None);
        assert_eq!(hashes_of(&[]), Some([].as_slice()));
    }

    #[test]
    fn a_key_is_named_by_its_hash() {
        assert_eq!(key_id(b""), "e3b0c44298fc1c14");
    }
}
