//! The audit trail: entries as they happen, seals over them afterwards.

use protocol::Timestamp;
use protocol::audit::Entry;

use crate::error::Result;
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// An entry to be made.
#[derive(Clone, Copy, Debug)]
pub struct AuditEntry<'a> {
    /// When.
    pub at: Timestamp,
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
    /// The salt of every commitment; erasing it makes them unguessable for ever.
    pub salt: &'a [u8],
    /// What an auditor may read, outside the seal.
    pub detail: Option<&'a str>,
    /// A commitment to the detail, inside the seal; there is one where there is a detail.
    pub detail_commitment: Option<[u8; 32]>,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
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
    pub request_id: Vec<u8>,
    /// Which operation.
    pub action: String,
    /// On what.
    pub object: String,
    /// `ok`, `unchanged`, or the error's code.
    pub outcome: String,
    /// A commitment to what was asked.
    pub request: Vec<u8>,
    /// A commitment to what was answered.
    pub response: Vec<u8>,
    /// The salt of every commitment, unless erased.
    pub salt: Option<Vec<u8>>,
    /// What an auditor may read, unless erased.
    pub detail: Option<String>,
    /// A commitment to the detail; entries from before details were committed to have none.
    pub detail_commitment: Option<Vec<u8>>,
}

/// A seal over a run of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealRow {
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
    /// The entries' hashes, 32 bytes each, in order.
    pub leaves: Vec<u8>,
    /// The Merkle root over them.
    pub root: Vec<u8>,
    /// The hash of the seal before.
    pub previous: Vec<u8>,
    /// The hash of this seal.
    pub hash: Vec<u8>,
    /// Which key signed it.
    pub key_id: String,
    /// The signature over the hash.
    pub signature: Vec<u8>,
}

impl Tx<'_> {
    /// Makes an entry.
    pub fn insert_audit(&mut self, entry: &AuditEntry<'_>) -> Result<()> {
        self.execute(
            "INSERT INTO audit (at_ms, workspace, actor, role, session, jti, request_id, action,
                 object, outcome, request, response, salt, detail, detail_commitment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            &[
                entry.at.as_ms().into(),
                entry.workspace.into(),
                entry.actor.into(),
                entry.role.into(),
                entry.session.into(),
                entry.jti.into(),
                entry.request_id.into(),
                entry.action.into(),
                entry.object.into(),
                entry.outcome.into(),
                entry.request.into(),
                entry.response.into(),
                entry.salt.into(),
                entry.detail.into(),
                entry.detail_commitment.as_ref().map(<[u8; 32]>::as_slice).into(),
            ],
        )?;
        Ok(())
    }

    /// Entries after a number, in order.
    pub fn audit_after(&mut self, after_id: i64, limit: usize) -> Result<Vec<AuditRow>> {
        self.query(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, salt, detail, detail_commitment
             FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after_id.into(), limit_param(limit)],
            audit_row,
        )
    }

    /// Entries of a workspace after a number and up to another, in order.
    pub fn audit_of_workspace_between(
        &mut self,
        workspace: &str,
        (after_id, upto_id): (i64, i64),
        limit: usize,
    ) -> Result<Vec<AuditRow>> {
        self.query(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, salt, detail, detail_commitment
             FROM audit WHERE id > ?1 AND id <= ?2 AND workspace = ?3 ORDER BY id LIMIT ?4",
            &[after_id.into(), upto_id.into(), workspace.into(), limit_param(limit)],
            audit_row,
        )
    }

    /// The newest entries of a workspace up to a number, the newest first.
    pub fn audit_newest(
        &mut self,
        workspace: &str,
        upto_id: i64,
        limit: usize,
    ) -> Result<Vec<AuditRow>> {
        self.query(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, salt, detail, detail_commitment
             FROM audit WHERE id <= ?1 AND workspace = ?2 ORDER BY id DESC LIMIT ?3",
            &[upto_id.into(), workspace.into(), limit_param(limit)],
            audit_row,
        )
    }

    /// The newest entry that no older one can still appear before.
    pub fn settled_audit_id(&mut self) -> Result<i64> {
        self.wait_for_writers()?;
        self.newest_audit_id()
    }

    /// The newest entry there is now; 0 when there is none.
    pub fn newest_audit_id(&mut self) -> Result<i64> {
        let newest = self.query_one("SELECT max(id) FROM audit", &[], |row| row.opt_int(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// The newest seal.
    pub fn last_seal(&mut self) -> Result<Option<SealRow>> {
        self.query_one(
            "SELECT id, first_id, last_id, entries, sealed_ms, leaves, root, previous, hash, key_id,
                    signature
             FROM audit_seal ORDER BY id DESC LIMIT 1",
            &[],
            seal_row,
        )
    }

    /// Seals after a number, in order.
    pub fn seals_after(&mut self, after_id: i64, limit: usize) -> Result<Vec<SealRow>> {
        self.query(
            "SELECT id, first_id, last_id, entries, sealed_ms, leaves, root, previous, hash, key_id,
                    signature
             FROM audit_seal WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after_id.into(), limit_param(limit)],
            seal_row,
        )
    }

    /// Adds a seal. Two sealers cannot add the same number.
    pub fn insert_seal(&mut self, seal: &SealRow) -> Result<()> {
        self.execute(
            "INSERT INTO audit_seal (id, first_id, last_id, entries, sealed_ms, leaves, root,
                 previous, hash, key_id, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            &[
                seal.id.into(),
                seal.first_id.into(),
                seal.last_id.into(),
                seal.entries.into(),
                seal.sealed.as_ms().into(),
                seal.leaves.as_slice().into(),
                seal.root.as_slice().into(),
                seal.previous.as_slice().into(),
                seal.hash.as_slice().into(),
                seal.key_id.as_str().into(),
                seal.signature.as_slice().into(),
            ],
        )?;
        Ok(())
    }
}

fn audit_row(row: &Row<'_>) -> Result<AuditRow> {
    Ok(AuditRow {
        id: row.int(0)?,
        at: Timestamp::from_ms(row.int(1)?),
        workspace: row.text(2)?,
        actor: row.text(3)?,
        role: row.text(4)?,
        session: row.text(5)?,
        jti: row.text(6)?,
        request_id: row.blob(7)?,
        action: row.text(8)?,
        object: row.text(9)?,
        outcome: row.text(10)?,
        request: row.blob(11)?,
        response: row.blob(12)?,
        salt: row.opt_blob(13)?,
        detail: row.opt_text(14)?,
        detail_commitment: row.opt_blob(15)?,
    })
}

fn seal_row(row: &Row<'_>) -> Result<SealRow> {
    Ok(SealRow {
        id: row.int(0)?,
        first_id: row.int(1)?,
        last_id: row.int(2)?,
        entries: row.int(3)?,
        sealed: Timestamp::from_ms(row.int(4)?),
        leaves: row.blob(5)?,
        root: row.blob(6)?,
        previous: row.blob(7)?,
        hash: row.blob(8)?,
        key_id: row.text(9)?,
        signature: row.blob(10)?,
    })
}

/// Where the seals end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealHead {
    /// The newest seal's number.
    pub id: i64,
    /// The last entry it covers.
    pub last_id: i64,
    /// Its hash.
    pub hash: Vec<u8>,
}

/// What sealing, verifying and exporting the trail ask for.
impl Tx<'_> {
    /// Where the seals end, without the leaves.
    pub fn seal_head(&mut self) -> Result<Option<SealHead>> {
        self.query_one(
            "SELECT id, last_id, hash FROM audit_seal ORDER BY id DESC LIMIT 1",
            &[],
            |row| Ok(SealHead { id: row.int(0)?, last_id: row.int(1)?, hash: row.blob(2)? }),
        )
    }

    /// The seal of a number.
    pub fn seal(&mut self, id: i64) -> Result<Option<SealRow>> {
        self.query_one(
            "SELECT id, first_id, last_id, entries, sealed_ms, leaves, root, previous, hash, key_id,
                    signature
             FROM audit_seal WHERE id = ?1",
            &[id.into()],
            seal_row,
        )
    }

    /// The number of the seal that covers an entry, or would cover it.
    pub fn seal_covering(&mut self, entry_id: i64) -> Result<Option<i64>> {
        self.query_one(
            "SELECT id FROM audit_seal WHERE last_id >= ?1 ORDER BY last_id LIMIT 1",
            &[entry_id.into()],
            |row| row.int(0),
        )
    }

    /// The numbers of the seals from a number on, whatever else stands in them.
    pub fn seal_ids_from(&mut self, from_id: i64, limit: usize) -> Result<Vec<i64>> {
        self.query(
            "SELECT id FROM audit_seal WHERE id >= ?1 ORDER BY id LIMIT ?2",
            &[from_id.into(), limit_param(limit)],
            |row| row.int(0),
        )
    }

    /// How many entries the seals from a number on claim to cover.
    pub fn sealed_entries(&mut self, from_id: i64) -> Result<i64> {
        let sum = self.query_one(
            "SELECT CAST(sum(entries) AS BIGINT) FROM audit_seal WHERE id >= ?1",
            &[from_id.into()],
            |row| row.opt_int(0),
        )?;
        Ok(sum.flatten().unwrap_or(0))
    }

    /// The entry of a number.
    pub fn audit_entry(&mut self, id: i64) -> Result<Option<AuditRow>> {
        self.query_one(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, salt, detail, detail_commitment
             FROM audit WHERE id = ?1",
            &[id.into()],
            audit_row,
        )
    }

    /// Entries from one number to another, both included, in order.
    pub fn audit_between(&mut self, from: i64, to: i64, limit: usize) -> Result<Vec<AuditRow>> {
        self.query(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, salt, detail, detail_commitment
             FROM audit WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            &[from.into(), to.into(), limit_param(limit)],
            audit_row,
        )
    }

    /// What a function makes of each such entry, which is not copied out of the database for it.
    pub fn of_audit_between<T>(
        &mut self,
        (from, to): (i64, i64),
        limit: usize,
        make: impl Fn(&Entry<'_>) -> T,
    ) -> Result<Vec<T>> {
        self.query(
            "SELECT id, at_ms, workspace, actor, role, session, jti, request_id, action, object,
                    outcome, request, response, detail_commitment
             FROM audit WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            &[from.into(), to.into(), limit_param(limit)],
            |row| {
                Ok(make(&Entry {
                    id: row.int(0)?,
                    at_ms: row.int(1)?,
                    workspace: row.text_here(2)?,
                    actor: row.text_here(3)?,
                    role: row.text_here(4)?,
                    session: row.text_here(5)?,
                    jti: row.text_here(6)?,
                    request_id: row.blob_here(7)?,
                    action: row.text_here(8)?,
                    object: row.text_here(9)?,
                    outcome: row.text_here(10)?,
                    request: row.blob_here(11)?,
                    response: row.blob_here(12)?,
                    detail: row.opt_blob_here(13)?,
                }))
            },
        )
    }

    /// The numbers of such entries, whatever else stands in them.
    pub fn audit_ids_between(&mut self, from: i64, to: i64, limit: usize) -> Result<Vec<i64>> {
        self.query(
            "SELECT id FROM audit WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            &[from.into(), to.into(), limit_param(limit)],
            |row| row.int(0),
        )
    }

    /// Whether an entry below a number has a commitment to its detail.
    pub fn has_detail_commitments_before(&mut self, id: i64) -> Result<bool> {
        let found = self.query_one(
            "SELECT id FROM audit WHERE id < ?1 AND detail_commitment IS NOT NULL
             ORDER BY id LIMIT 1",
            &[id.into()],
            |row| row.int(0),
        )?;
        Ok(found.is_some())
    }

    /// How many entries there are from one number to another, both included.
    pub fn audit_count(&mut self, from: i64, to: i64) -> Result<i64> {
        let count = self.query_one(
            "SELECT count(*) FROM audit WHERE id >= ?1 AND id <= ?2",
            &[from.into(), to.into()],
            |row| row.int(0),
        )?;
        Ok(count.unwrap_or(0))
    }
}
