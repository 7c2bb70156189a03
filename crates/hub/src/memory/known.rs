//! Taking personal data out, with the names that a workspace knows.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::limits::memory as limits;
use protocol::redact::{KnownNames, Redactor, TokenKey};
use store::{Store, Tx};

use crate::error::Result;

/// The redactors of workspaces, each with the names that were known when it was made.
pub(super) struct Redactors {
    key: [u8; 32],
    made: Mutex<HashMap<String, (Timestamp, Arc<Redactor>)>>,
}

impl Redactors {
    /// With a key that all hubs on the same database share.
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key, made: Mutex::default() }
    }

    /// The redactor of a workspace; made again when it is old.
    pub(super) async fn of(
        &self,
        store: &Store,
        workspace: &str,
        now: Timestamp,
    ) -> Result<Arc<Redactor>> {
        if let Some(known) = self.fresh(workspace, now) {
            return Ok(known);
        }
        let asked = workspace.to_owned();
        let names = store.read(move |tx| names(tx, &asked)).await?;
        Ok(self.put(workspace, now, &names))
    }

    /// The same inside of a transaction.
    pub(super) fn within(
        &self,
        tx: &mut Tx<'_>,
        workspace: &str,
        now: Timestamp,
    ) -> Result<Arc<Redactor>> {
        if let Some(known) = self.fresh(workspace, now) {
            return Ok(known);
        }
        let names = names(tx, workspace)?;
        Ok(self.put(workspace, now, &names))
    }

    fn fresh(&self, workspace: &str, now: Timestamp) -> Option<Arc<Redactor>> {
        let made = self.made.lock();
        let (at, redactor) = made.get(workspace)?;
        let age_ms = now.ms_since(*at);
        (0..limits::NAMES_FRESH_MS).contains(&age_ms).then(|| Arc::clone(redactor))
    }

    fn put(&self, workspace: &str, now: Timestamp, names: &[String]) -> Arc<Redactor> {
        let key = TokenKey::of_workspace(&self.key, workspace);
        let names = KnownNames::new(names.iter().map(String::as_str));
        let redactor = Arc::new(Redactor::new(key, names));
        let mut made = self.made.lock();
        if made.len() >= limits::WORKSPACES_KNOWN_MAX {
            made.clear();
        }
        made.insert(workspace.to_owned(), (now, Arc::clone(&redactor)));
        redactor
    }
}

fn names(tx: &mut Tx<'_>, workspace: &str) -> Result<Vec<String>> {
    Ok(tx.known_names(workspace, limits::NAMES_MAX)?)
}
