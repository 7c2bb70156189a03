//! Entries and seals as people and other programs read them: one JSON object each, bytes in hexadecimal.

use protocol::Timestamp;
use protocol::audit::{Entry, Hash, Seal, from_hex, to_hex};
use serde::{Deserialize, Serialize};
use store::{AuditRow, SealRow};

use super::detail::DetailState;

/// An entry, as it is exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// In which workspace.
    pub workspace: String,
    /// Who.
    pub actor: String,
    /// In which role.
    pub role: String,
    /// From which session.
    pub session: String,
    /// By which token.
    pub jti: String,
    /// In which request.
    #[serde(with = "hex")]
    pub request_id: Vec<u8>,
    /// Which operation.
    pub action: String,
    /// On what.
    pub object: String,
    /// `ok`, `unchanged`, or the error's code.
    pub outcome: String,
    /// A commitment to what was asked.
    #[serde(with = "hex")]
    pub request: Vec<u8>,
    /// A commitment to what was answered.
    #[serde(with = "hex")]
    pub response: Vec<u8>,
    /// The salt of every commitment in hexadecimal, unless erased; not sealed.
    pub salt: Option<String>,
    /// What an auditor may read, unless erased; not sealed itself.
    pub detail: Option<String>,
    /// A commitment to the detail in hexadecimal, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail_commitment: Option<String>,
}

impl From<AuditRow> for EntryRecord {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.id,
            at: row.at,
            workspace: row.workspace,
            actor: row.actor,
            role: row.role,
            session: row.session,
            jti: row.jti,
            request_id: row.request_id,
            action: row.action,
            object: row.object,
            outcome: row.outcome,
            request: row.request,
            response: row.response,
            salt: row.salt.as_deref().map(to_hex),
            detail: row.detail,
            detail_commitment: row.detail_commitment.as_deref().map(to_hex),
        }
    }
}

impl EntryRecord {
    /// The hash that a seal covers; `None` when the commitment to the detail is no hexadecimal number.
    pub fn hash(&self) -> Option<Hash> {
        let detail = match &self.detail_commitment {
            Some(digits) => Some(from_hex(digits)?),
            None => None,
        };
        let entry = Entry {
            id: self.id,
            at_ms: self.at.as_ms(),
            workspace: &self.workspace,
            actor: &self.actor,
            role: &self.role,
            session: &self.session,
            jti: &self.jti,
            request_id: &self.request_id,
            action: &self.action,
            object: &self.object,
            outcome: &self.outcome,
            request: &self.request,
            response: &self.response,
            detail: detail.as_deref(),
        };
        Some(entry.hash())
    }

    /// Whether the detail, where there is one and a commitment to it, is what the entry was made with.
    pub(super) fn detail_fits(&self) -> bool {
        let bytes = |digits: &Option<String>| digits.as_deref().and_then(from_hex);
        let (commitment, salt) = (bytes(&self.detail_commitment), bytes(&self.salt));
        let detail = self.detail.as_deref();
        DetailState::of(detail, commitment.as_deref(), salt.as_deref()) != DetailState::Differs
    }
}

/// The hash that a seal covers, of a stored entry under a number.
pub(super) fn entry_hash(row: &AuditRow, id: i64) -> Hash {
    Entry {
        id,
        at_ms: row.at.as_ms(),
        workspace: &row.workspace,
        actor: &row.actor,
        role: &row.role,
        session: &row.session,
        jti: &row.jti,
        request_id: &row.request_id,
        action: &row.action,
        object: &row.object,
        outcome: &row.outcome,
        request: &row.request,
        response: &row.response,
        detail: row.detail_commitment.as_deref(),
    }
    .hash()
}

/// How a stored entry's detail stands to its commitment.
pub(super) fn detail_state(row: &AuditRow) -> DetailState {
    let (commitment, salt) = (row.detail_commitment.as_deref(), row.salt.as_deref());
    DetailState::of(row.detail.as_deref(), commitment, salt)
}

/// A seal, as it is exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealRecord {
    /// Its number: 1, 2, 3, …
    pub id: i64,
    /// The first entry's number.
    pub first_id: i64,
    /// The last entry's number.
    pub last_id: i64,
    /// How many entries.
    pub entries: i64,
    /// When it was made.
    pub sealed: Timestamp,
    /// The entries' hashes, 32 bytes each, in order; a proof leaves them out.
    #[serde(with = "hex", default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<u8>,
    /// The Merkle root over them.
    #[serde(with = "hex")]
    pub root: Vec<u8>,
    /// The hash of the seal before.
    #[serde(with = "hex")]
    pub previous: Vec<u8>,
    /// The hash of this seal.
    #[serde(with = "hex")]
    pub hash: Vec<u8>,
    /// Which key signed it.
    pub key_id: String,
    /// The signature over the hash.
    #[serde(with = "hex")]
    pub signature: Vec<u8>,
}

impl From<SealRow> for SealRecord {
    fn from(row: SealRow) -> Self {
        Self {
            id: row.id,
            first_id: row.first_id,
            last_id: row.last_id,
            entries: row.entries,
            sealed: row.sealed,
            leaves: row.leaves,
            root: row.root,
            previous: row.previous,
            hash: row.hash,
            key_id: row.key_id,
            signature: row.signature,
        }
    }
}

impl SealRecord {
    /// The hash that the fields give.
    pub fn computed_hash(&self) -> Hash {
        Seal {
            id: self.id,
            first_id: self.first_id,
            last_id: self.last_id,
            entries: self.entries,
            sealed_ms: self.sealed.as_ms(),
            root: &self.root,
            previous: &self.previous,
            key_id: &self.key_id,
        }
        .hash()
    }
}

/// The hash that a stored seal's fields give, under a root.
pub(super) fn seal_hash(row: &SealRow, root: &[u8]) -> Hash {
    Seal {
        id: row.id,
        first_id: row.first_id,
        last_id: row.last_id,
        entries: row.entries,
        sealed_ms: row.sealed.as_ms(),
        root,
        previous: &row.previous,
        key_id: &row.key_id,
    }
    .hash()
}

mod hex {
    use std::borrow::Cow;

    use protocol::audit::{from_hex, to_hex};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = Cow::<'de, str>::deserialize(from)?;
        from_hex(&text).ok_or_else(|| Error::custom("expected hexadecimal digits"))
    }
}
