//! The audit trail of a backup: verified with the keys of the data folder, where they are at hand.

use std::path::Path;

use anyhow::{Context, Result, bail};
use hub::audit::{self, Problem, Progress, Report, TrustedKeys, Verification};
use serde_json::{Value, json};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::cli::Global;
use crate::commands::progress::Percent;
use crate::paths::{self, Place};

/// What is known of it.
pub(super) enum Trail {
    /// Every seal is good.
    Good(Report),
    /// It could not be verified, and why.
    Unverified(String),
    /// It is not what was sealed.
    Bad(Problem),
}

impl Trail {
    /// Fails when somebody has changed it.
    pub(super) fn refuse_if_bad(&self) -> Result<()> {
        match self {
            Self::Bad(problem) => bail!(
                "this backup cannot be used: its audit trail is not good: {problem}.\nIf you want it all \
                 the same, say --despite-trail"
            ),
            _ => Ok(()),
        }
    }

    /// For people.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Good(report) => format!(
                "Its audit trail is good: {} entries under {} seals, {} not sealed yet.",
                report.entries, report.seals, report.unsealed
            ),
            Self::Unverified(why) => format!("Its audit trail was not verified: {why}."),
            Self::Bad(problem) => format!("ITS AUDIT TRAIL IS NOT GOOD: {problem}."),
        }
    }

    /// For scripts.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Good(_) => json!({ "good": true }),
            Self::Unverified(why) => json!({ "good": null, "not_verified": why }),
            Self::Bad(problem) => json!({ "good": false, "problem": problem.to_string() }),
        }
    }
}

/// Verifies the trail of a backup, unless it is called off. Nobody has the file open afterwards.
pub(super) async fn check(
    place: &Place,
    global: &Global,
    file: &Path,
    off: &CancellationToken,
) -> Result<Trail> {
    let folder = paths::shown(&place.keys());
    let keys = match keys(place) {
        Ok(Some(keys)) => keys,
        Ok(None) => {
            return Ok(Trail::Unverified(format!(
                "there are no keys in {folder}; copy them there, then run waystation audit verify"
            )));
        }
        Err(error) => return Ok(Trail::Unverified(format!("the keys cannot be read ({error:#})"))),
    };
    let path = file.to_owned();
    let store = tokio::task::spawn_blocking(move || Store::open_read_only(&path)).await?;
    let store = store.context("cannot open the backup")?;
    let percent = Percent::new(global);
    let show = |at: Progress| percent.draw("verifying", at.entries_done, at.entries_total);
    let verification = Verification { keys, from: None, checkpoint: None };
    let report = off.run_until_cancelled(audit::verify(&store, &verification, show)).await;
    percent.clear();
    tokio::task::spawn_blocking(move || store.close()).await?;
    let mut report = report.ok_or(StoreError::CalledOff)??;
    Ok(match report.problem.take() {
        None => Trail::Good(report),
        // From the first seal on it is another hub's; later, somebody has gone on with a key of their own.
        Some(Problem::UnknownKey { key_id, .. }) if report.seals == 0 => {
            Trail::Unverified(format!(
                "it is sealed with the key {key_id}, which is not in {folder}; copy it there, then run \
             waystation audit verify"
            ))
        }
        Some(problem) => Trail::Bad(problem),
    })
}

/// The keys of the data folder; `None` when there are none.
fn keys(place: &Place) -> Result<Option<TrustedKeys>> {
    let mut keys = TrustedKeys::default();
    if place.keys().exists() {
        keys.add_folder(&place.keys())?;
    }
    let has_keys = keys.ids().next().is_some();
    Ok(has_keys.then_some(keys))
}
