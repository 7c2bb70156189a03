//! From a stored link to its client.

use std::collections::BTreeMap;
use std::sync::Arc;

use connector_api::{Connector, ConnectorError, LinkSettings};
use store::LinkRow;

use super::registry::Links;

impl Links {
    /// Builds the client of a stored link. The error says what a person has to do.
    pub(crate) fn connect(&self, link: &LinkRow) -> Result<Arc<dyn Connector>, ConnectorError> {
        let kind = self.kind(&link.service).ok_or_else(|| {
            setting(link, format!("is of {}, which this hub does not know", link.service))
        })?;
        kind.connect(&self.settings(link)?, self.parts.http.clone())
    }

    /// What was given for a stored link.
    pub(super) fn settings(&self, link: &LinkRow) -> Result<LinkSettings, ConnectorError> {
        let plain: BTreeMap<String, String> = serde_json::from_str(&link.settings)
            .map_err(|_| setting(link, "is damaged".to_owned()))?;
        let secrets = match &link.secrets {
            Some(sealed) => self
                .parts
                .vault
                .unseal(&link.workspace, &link.name, sealed)
                .map_err(|error| setting(link, format!("cannot be used: {error}")))?,
            None => BTreeMap::new(),
        };
        Ok(LinkSettings { plain, secrets })
    }
}

fn setting(link: &LinkRow, reason: String) -> ConnectorError {
    ConnectorError::Setting { field: format!("link {}", link.name), reason }
}
