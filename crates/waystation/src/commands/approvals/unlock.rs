//! Unlocking this terminal with the operator's passphrase.

use anyhow::{Context, Result, bail};
use edge::local::{Client, ClientError};
use serde_json::{Value, json};

use crate::commands::tty::Tty;
use crate::failure;

/// How often a person may mistype.
const TRIES_MAX: u32 = 3;

/// How it stands with this terminal.
pub(super) struct Standing {
    pub(super) is_set: bool,
    pub(super) is_unlocked: bool,
    pub(super) refusal: Option<String>,
}

/// Asks the hub how it stands with this terminal.
pub(super) async fn standing(hub: &mut Client) -> Result<Standing> {
    let answer = hub.post("/local/approvals/terminal", "{}".to_owned()).await;
    let answer = answer.map_err(failure::of_client)?;
    let found: Value = serde_json::from_slice(&answer).context("the hub answered no JSON")?;
    let flag = |key: &str| found.get(key).and_then(Value::as_bool).unwrap_or_default();
    Ok(Standing {
        is_set: flag("is_set"),
        is_unlocked: flag("is_unlocked"),
        refusal: found.get("refusal").and_then(Value::as_str).map(str::to_owned),
    })
}

/// Unlocks this terminal: asks for the passphrase, unless that was done a short while ago.
pub(crate) async fn unlock(hub: &mut Client) -> Result<()> {
    let standing = standing(hub).await?;
    if standing.is_unlocked {
        return Ok(());
    }
    if !standing.is_set {
        bail!("there is no passphrase yet; set one with waystation approvals passphrase");
    }
    if let Some(refusal) = standing.refusal {
        bail!("{refusal}: deciding takes a person at a terminal of their own");
    }
    let mut tty = Tty::open()?;
    for attempt in 1..=TRIES_MAX {
        let passphrase = tty.secret("Passphrase for deciding: ")?;
        let body = json!({ "passphrase": passphrase.expose() }).to_string();
        match hub.post("/local/approvals/unlock", body).await {
            Ok(_) => return Ok(()),
            Err(error) if attempt < TRIES_MAX && is_wrong(&error) => {
                tty.say("That is not it.\n")?;
                wait_out(&error).await;
            }
            Err(error) => return Err(failure::of_client(error)),
        }
    }
    bail!("the passphrase is wrong")
}

fn is_wrong(error: &ClientError) -> bool {
    let code = match error {
        ClientError::Refused(body) => body.get("code").and_then(Value::as_str),
        ClientError::Edge(_) => None,
    };
    matches!(code, Some("INSUFFICIENT_AUTHORITY" | "RATE_LIMITED"))
}

/// The hub lets nobody try again at once.
async fn wait_out(error: &ClientError) {
    let ms = match error {
        ClientError::Refused(body) => body.get("retry_after_ms").and_then(Value::as_u64),
        ClientError::Edge(_) => None,
    };
    tokio::time::sleep(std::time::Duration::from_millis(ms.unwrap_or(0))).await;
}
