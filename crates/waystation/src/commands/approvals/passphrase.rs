//! Setting and changing the passphrase.

use anyhow::{Result, bail};
use edge::local::Client;
use serde_json::json;

use super::unlock;
use crate::commands::tty::Tty;
use crate::{failure, output};

/// `waystation approvals passphrase`.
pub(super) async fn run(hub: &mut Client) -> Result<()> {
    let standing = unlock::standing(hub).await?;
    if let Some(refusal) = standing.refusal {
        bail!("{refusal}");
    }
    let mut tty = Tty::open()?;
    let old = if standing.is_set { Some(tty.secret("The passphrase as it is: ")?) } else { None };
    let new = tty.secret("The new passphrase: ")?;
    if tty.secret("Once more: ")?.expose() != new.expose() {
        bail!("these are two different ones; nothing was changed");
    }
    let body = json!({ "old": old.as_ref().map(|old| old.expose()), "new": new.expose() });
    hub.post("/local/approvals/passphrase", body.to_string()).await.map_err(failure::of_client)?;
    output::line("The passphrase is set. Deciding asks for it, and remembers it for five minutes.")
}
