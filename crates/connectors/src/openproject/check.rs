//! Whether the key works, and whose it is.

use connector_api::{Account, Result};

use super::api::{Api, judged};
use super::own::Own;
use crate::foreign::Foreign as _;

/// Asks OpenProject who the link is.
pub(super) async fn account(api: &Api, own: &Own) -> Result<Account> {
    if !api.can_write() {
        let note = "without an API key nothing goes out".to_owned();
        let name = format!("webhooks of {}", api.host());
        return Ok(Account { name, notes: vec![note], ..Account::default() });
    }
    let user = judged(&api.get("users/me").await?, "the API key")?;
    let id = user.number("id").map(|id| id.to_string()).unwrap_or_default();
    own.learn(&id);
    let name = user.text("name").unwrap_or_default().to_owned();
    Ok(Account { name, id, notes: Vec::new() })
}
