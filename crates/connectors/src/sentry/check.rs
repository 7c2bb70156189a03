//! Whether the token works, and whose it is.

use connector_api::{Account, Result};

use super::api::{Api, judged};
use crate::foreign::Foreign as _;

/// Asks Sentry for the organization.
pub(super) async fn account(api: &Api) -> Result<Account> {
    if !api.can_write() {
        let note = "without a token nothing goes out, and what was missed cannot be asked for";
        let name = "webhooks of Sentry".to_owned();
        return Ok(Account { name, notes: vec![note.to_owned()], ..Account::default() });
    }
    let organization = judged(&api.get("").await?, "the organization")?;
    let name = organization.text("name").unwrap_or(api.organization()).to_owned();
    let id = organization.text("id").unwrap_or_default().to_owned();
    Ok(Account { name, id, notes: Vec::new() })
}
