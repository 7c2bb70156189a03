//! Whether the token works, and whose it is.

use connector_api::{Account, Result};

use super::api::{Api, judged};
use super::own::Own;
use crate::foreign::Foreign as _;

/// Asks Sentry for the organization.
pub(super) async fn account(api: &Api, own: &Own) -> Result<Account> {
    if !api.can_write() {
        let note = "without a token nothing goes out, and what was missed cannot be asked for";
        let name = "webhooks of Sentry".to_owned();
        return Ok(Account { name, notes: vec![note.to_owned()], ..Account::default() });
    }
    let organization = judged(&api.get("").await?, "the organization")?;
    let name = organization.text("name").unwrap_or(api.organization()).to_owned();
    let id = organization.text("id").unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    match installations(api, own).await {
        Ok(()) => {}
        // Nothing of the link needs it: until it is known who this is, every program's words are left.
        Err(error) => notes.push(format!(
            "which integration this is cannot be asked for ({error}): comments of other integrations \
             make no work"
        )),
    }
    Ok(Account { name, id, notes })
}

/// Asks which integrations are installed, so that what this one does is known again.
async fn installations(api: &Api, own: &Own) -> Result<()> {
    let installed = judged(&api.get("sentry-app-installations/").await?, "the installations")?;
    for installation in installed.as_array().map_or(&[][..], Vec::as_slice) {
        own.learn_installation(installation);
    }
    Ok(())
}
