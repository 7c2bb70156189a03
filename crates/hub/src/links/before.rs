//! What stays of a link that is added again: whatever is not given anew.

use std::collections::BTreeMap;

use connector_api::{Field, LinkSettings};
use protocol::Secret;

use crate::call::Call;
use crate::error::{Error, Result};

/// Settings that say where credentials are sent.
const ADDRESSES: [&str; 2] = ["base_url", "url"];

/// A link as it stands before it is added again.
pub(super) struct Before {
    /// Which change of it this is.
    pub(super) version: i64,
    settings: LinkSettings,
}

impl Before {
    /// The link of this name, where there is one of the service.
    pub(super) async fn find(call: &Call, service: &str, name: &str) -> Result<Option<Self>> {
        let (caller, name) = (call.shared_caller(), name.to_owned());
        let row = call.read(move |tx| Ok(tx.link(&caller.workspace_id, &name)?)).await?;
        let row = row.filter(|row| row.is_live && row.service == service);
        Ok(row.map(|row| Self {
            version: row.version,
            // What cannot be read any more has to be given anew.
            settings: call.hub.links.settings(&row).unwrap_or_default(),
        }))
    }

    /// Fills in what was not given, as far as the service still asks for it.
    pub(super) fn complete(
        &self,
        fields: &[Field],
        given: &mut BTreeMap<String, String>,
    ) -> Result<()> {
        self.guard_address(given)?;
        for field in fields.iter().filter(|field| self.value(field.name).is_some()) {
            let kept = || self.value(field.name).unwrap_or_default().to_owned();
            given.entry(field.name.to_owned()).or_insert_with(kept);
        }
        Ok(())
    }

    /// The names of what is other than before.
    pub(super) fn replaced(&self, now: &LinkSettings) -> Vec<String> {
        let secrets = now.secrets.iter().map(|(name, secret)| (name, secret.expose()));
        let all = now.plain.iter().chain(secrets);
        let other = all.filter(|(name, value)| self.value(name) != Some(value.as_str()));
        other.map(|(name, _)| name.clone()).collect()
    }

    /// Secrets that nobody can read must not be sent to an address of somebody's choice.
    fn guard_address(&self, given: &BTreeMap<String, String>) -> Result<()> {
        let moves = |name: &&&str| {
            given.get(**name).is_some_and(|url| self.value(name) != Some(url.as_str()))
        };
        let Some(address) = ADDRESSES.iter().find(moves) else { return Ok(()) };
        let secrets = self.settings.secrets.iter();
        let kept: Vec<&str> = secrets
            .filter(|(name, secret)| !secret.expose().is_empty() && !given.contains_key(*name))
            .map(|(name, _)| name.as_str())
            .collect();
        if kept.is_empty() {
            return Ok(());
        }
        let message = format!("is another address than before: give {} anew", kept.join(", "));
        Err(Error::invalid(format!("settings.{address}"), message))
    }

    fn value(&self, name: &str) -> Option<&str> {
        let secret = || self.settings.secrets.get(name).map(Secret::expose);
        self.settings.plain.get(name).or_else(secret).map(String::as_str)
    }
}
