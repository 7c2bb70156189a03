//! What proposals are made with: the hub, and the key that binds their buttons.
//!
//! The key lies in the database, sealed like the secrets of links, so that hubs that share a database
//! know each other's buttons.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::Secret;
use ring::hmac;

use crate::error::{Error, Result};
use crate::hub::Hub;

/// Where the key is remembered.
const FACT: &str = "approvals_key";
/// What it is sealed for; no link can have this name in no workspace.
const SEALED_FOR: (&str, &str) = ("", "approvals");
const FIELD: &str = "key";

/// What proposals are made with.
#[derive(Clone)]
pub struct Means {
    pub(crate) hub: Arc<Hub>,
    pub(crate) key: hmac::Key,
}

/// Gets what proposals are made with, before a transaction.
pub async fn means(hub: &Arc<Hub>) -> Result<Means> {
    let key = hub.approvals.key().get_or_try_init(|| load(hub)).await?.clone();
    Ok(Means { hub: Arc::clone(hub), key })
}

async fn load(hub: &Arc<Hub>) -> Result<hmac::Key> {
    let known = hub.store.read(|tx| Ok::<_, Error>(tx.fact(FACT)?)).await?;
    let sealed = match known {
        Some(sealed) => sealed,
        None => make(hub).await?,
    };
    let broken = |error: Box<dyn std::error::Error + Send + Sync>| Error::Internal(error);
    let sealed = STANDARD.decode(sealed).map_err(|error| broken(error.into()))?;
    let (workspace, name) = SEALED_FOR;
    let opened = hub.links.vault().unseal(workspace, name, &sealed);
    let opened = opened.map_err(|error| broken(error.into()))?;
    let text = opened.get(FIELD).map(Secret::expose).cloned().unwrap_or_default();
    let bytes = STANDARD.decode(text).map_err(|error| broken(error.into()))?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// Makes the key, unless another hub was faster.
async fn make(hub: &Arc<Hub>) -> Result<String> {
    let fresh = Secret::new(STANDARD.encode(hub.random::<32>()));
    let (workspace, name) = SEALED_FOR;
    let secrets = BTreeMap::from([(FIELD.to_owned(), fresh)]);
    let sealed = STANDARD.encode(hub.links.vault().seal(hub.random(), workspace, name, &secrets));
    hub.store
        .write(move |tx| {
            // Whoever makes it at the same time must be done first.
            tx.wait_for_writers()?;
            if let Some(known) = tx.fact(FACT)? {
                return Ok::<_, Error>(known);
            }
            tx.set_fact(FACT, &sealed)?;
            Ok(sealed.clone())
        })
        .await
}
