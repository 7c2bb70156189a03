//! The hash of one entry: what a seal promises never changes.

use super::bytes::Encoder;
use super::merkle::{self, Hash};

const DOMAIN: &str = "waystation/audit-entry/v1";
/// Of an entry with a detail, so that nobody can take the commitment to it away unseen.
const DOMAIN_WITH_DETAIL: &str = "waystation/audit-entry/v2";

/// The sealed part of an entry. Its salt and its detail are not part of it, so that they can be erased;
/// a commitment to the detail is, so that it cannot be rewritten.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number.
    pub id: i64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// In which workspace.
    pub workspace: &'a str,
    /// Who.
    pub actor: &'a str,
    /// In which role.
    pub role: &'a str,
    /// From which session.
    pub session: &'a str,
    /// By which token.
    pub jti: &'a str,
    /// In which request.
    pub request_id: &'a [u8],
    /// Which operation.
    pub action: &'a str,
    /// On what.
    pub object: &'a str,
    /// `ok`, `unchanged`, or the error's code.
    pub outcome: &'a str,
    /// A commitment to what was asked.
    pub request: &'a [u8],
    /// A commitment to what was answered.
    pub response: &'a [u8],
    /// A commitment to the detail; none where the entry was made without one.
    pub detail: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// The bytes that are hashed: the domain, then every field in the order of the struct. Without a
    /// commitment to a detail they are those of the time before there were any.
    pub fn encode(&self) -> Vec<u8> {
        let fields = match self.detail {
            None => self.fields(DOMAIN),
            Some(commitment) => self.fields(DOMAIN_WITH_DETAIL).bytes(commitment),
        };
        fields.finish()
    }

    fn fields(&self, domain: &str) -> Encoder {
        Encoder::new(domain)
            .number(self.id)
            .number(self.at_ms)
            .bytes(self.workspace.as_bytes())
            .bytes(self.actor.as_bytes())
            .bytes(self.role.as_bytes())
            .bytes(self.session.as_bytes())
            .bytes(self.jti.as_bytes())
            .bytes(self.request_id)
            .bytes(self.action.as_bytes())
            .bytes(self.object.as_bytes())
            .bytes(self.outcome.as_bytes())
            .bytes(self.request)
            .bytes(self.response)
    }

    /// The entry's hash, which is its leaf in the seal's Merkle tree.
    pub fn hash(&self) -> Hash {
        merkle::leaf_hash(&self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::to_hex;

    const EXAMPLE: Entry<'_> = Entry {
        id: 7,
        at_ms: 1_771_329_600_120,
        workspace: "home",
        actor: "ada",
        role: "operator",
        session: "s-1",
        jti: "t-1",
        request_id: &[0xab, 0xcd],
        action: "post_message",
        object: "thread-1",
        outcome: "ok",
        request: &[0x11; 32],
        response: &[0x22; 32],
        detail: None,
    };

    /// The vector printed in `docs/guides/audit.md`.
    #[test]
    fn the_published_vector_holds() {
        let expected = "0823d714ae49872e6311614b29f4bfa529f692698e1151ea35376858afc5c6ab";
        assert_eq!(to_hex(&EXAMPLE.hash()), expected);
    }

    /// The other vector printed there.
    #[test]
    fn the_published_vector_with_a_detail_holds() {
        let entry = Entry { detail: Some(&[0x33; 32]), ..EXAMPLE };
        let expected = "eb38d12bf8ad8ea2e709c19a7fe982ff574d178be16b147ecdf1f5fef10c0137";
        assert_eq!(to_hex(&entry.hash()), expected);
    }

    #[test]
    fn text_cannot_move_between_fields() {
        let moved = Entry { workspace: "hom", actor: "eada", ..EXAMPLE };
        assert_ne!(moved.hash(), EXAMPLE.hash());
    }

    #[test]
    fn every_field_counts() {
        let changed = [
            Entry { id: 8, ..EXAMPLE },
            Entry { at_ms: 0, ..EXAMPLE },
            Entry { workspace: "x", ..EXAMPLE },
            Entry { actor: "x", ..EXAMPLE },
            Entry { role: "x", ..EXAMPLE },
            Entry { session: "x", ..EXAMPLE },
            Entry { jti: "x", ..EXAMPLE },
            Entry { request_id: b"x", ..EXAMPLE },
            Entry { action: "x", ..EXAMPLE },
            Entry { object: "x", ..EXAMPLE },
            Entry { outcome: "x", ..EXAMPLE },
            Entry { request: b"x", ..EXAMPLE },
            Entry { response: b"x", ..EXAMPLE },
            Entry { detail: Some(b""), ..EXAMPLE },
            Entry { detail: Some(b"x"), ..EXAMPLE },
        ];
        let mut hashes: Vec<Hash> = changed.iter().map(Entry::hash).collect();
        hashes.push(EXAMPLE.hash());
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), changed.len() + 1);
    }
}
