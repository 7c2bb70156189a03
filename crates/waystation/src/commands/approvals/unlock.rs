//! Unlocking this terminal with the operator's passphrase.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use edge::local::{Client, ClientError};
use protocol::Secret;
use serde_json::{Value, json};

use crate::commands::tty::Tty;
use crate::failure;

/// How often a person may mistype.
const TRIES_MAX: u32 = 3;
const QUESTION: &str = "Passphrase for deciding: ";
/// What the hub says to a wrong passphrase, and to one that comes too soon after it.
const WRONG: &str = "INSUFFICIENT_AUTHORITY";
const TOO_SOON: &str = "RATE_LIMITED";

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
        bail!("{refusal}");
    }
    let mut tty = Tty::open()?;
    for _ in 1..TRIES_MAX {
        let passphrase = tty.secret(QUESTION)?;
        match try_one(hub, &passphrase).await {
            Err(error) if code(&error) == Some(WRONG) => tty.say("That is not it.\n")?,
            other => return other.map_err(failure::of_client),
        }
    }
    let passphrase = tty.secret(QUESTION)?;
    try_one(hub, &passphrase).await.map_err(failure::of_client)
}

/// Tries a passphrase; after a wrong one the hub takes none for a while, and that is waited for.
async fn try_one(hub: &mut Client, passphrase: &Secret<String>) -> Result<(), ClientError> {
    let body = json!({ "passphrase": passphrase.expose() }).to_string();
    match hub.post("/local/approvals/unlock", body.clone()).await {
        Err(error) if code(&error) == Some(TOO_SOON) => {
            tokio::time::sleep(wait(&error)).await;
            hub.post("/local/approvals/unlock", body).await.map(drop)
        }
        other => other.map(drop),
    }
}

/// Whether a refusal can be lifted by unlocking this terminal.
pub(crate) fn is_asked_for(error: &ClientError) -> bool {
    code(error) == Some(WRONG)
}

fn code(error: &ClientError) -> Option<&str> {
    match error {
        ClientError::Refused(body) => body.get("code").and_then(Value::as_str),
        ClientError::Edge(_) => None,
    }
}

fn wait(error: &ClientError) -> Duration {
    let ms = match error {
        ClientError::Refused(body) => body.get("retry_after_ms").and_then(Value::as_u64),
        ClientError::Edge(_) => None,
    };
    Duration::from_millis(ms.unwrap_or(0))
}
