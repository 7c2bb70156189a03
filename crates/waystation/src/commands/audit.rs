//! Checking, exporting and following the audit trail. Only `tail` needs a hub; the rest reads files.

mod export;
mod tail;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hub::audit::{self, Progress, SealKey, TrustedKeys, Verification};
use serde_json::json;
use store::Store;

use super::progress::Percent;
use crate::cli::{AuditCommand, Global};
use crate::output;
use crate::paths::Place;

/// The exit code of a trail that was tampered with.
const NOT_GOOD: u8 = 2;

pub(crate) async fn run(place: &Place, global: &Global, command: AuditCommand) -> Result<ExitCode> {
    match command {
        AuditCommand::Verify { from, checkpoint, public_keys } => {
            return verify(place, global, from, checkpoint.as_deref(), &public_keys).await;
        }
        AuditCommand::Export { from, to, out } => {
            export::run(place, (from, to), out.as_deref()).await?;
        }
        AuditCommand::Tail => tail::run(place, global).await?,
        AuditCommand::Checkpoint { origin } => checkpoint(place, global, &origin).await?,
        AuditCommand::Prove { entry } => {
            let store = open(place).await?;
            let proof = audit::prove(&store, entry).await?;
            output::json(&proof)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the trail beside a running hub, or without one.
async fn open(place: &Place) -> Result<Store> {
    let (database, url) = (place.database(), place.config()?.store.postgres_url);
    if url.is_empty() && !database.exists() {
        bail!("there is no audit trail in {}", place.shown());
    }
    let open = move || {
        if url.is_empty() {
            Store::open_read_only(&database)
        } else {
            Store::open_read_only_postgres(&url)
        }
    };
    Ok(tokio::task::spawn_blocking(open).await??)
}

fn trusted(place: &Place, public_keys: &[String]) -> Result<TrustedKeys> {
    let mut keys = TrustedKeys::default();
    if public_keys.is_empty() {
        keys.add_folder(&place.keys())?;
    }
    for key in public_keys {
        keys.add_base64(key)?;
    }
    Ok(keys)
}

async fn verify(
    place: &Place,
    global: &Global,
    from: Option<i64>,
    checkpoint: Option<&Path>,
    public_keys: &[String],
) -> Result<ExitCode> {
    let keys = trusted(place, public_keys)?;
    let checkpoint = match checkpoint {
        None => None,
        Some(path) => {
            let note = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Some(audit::open_checkpoint(&note, &keys)?)
        }
    };
    let store = open(place).await?;
    let verification = Verification { keys, from, checkpoint };
    let percent = Percent::new(global);
    let show = |at: Progress| percent.draw("verifying", at.entries_done, at.entries_total);
    let report = audit::verify(&store, &verification, show).await;
    percent.clear();
    let report = report?;
    let problem = report.problem.as_ref();
    let value = json!({
        "good": report.is_good(), "seals": report.seals, "entries": report.entries,
        "unsealed": report.unsealed, "problem": problem.map(ToString::to_string),
        "first_bad_entry": problem.and_then(audit::Problem::entry),
        "first_bad_seal": problem.map(audit::Problem::seal),
    });
    let counted = format!(
        "{} entries under {} seals, {} not sealed yet",
        report.entries, report.seals, report.unsealed
    );
    let brief = match problem {
        None => format!("the trail is good: {counted}"),
        Some(problem) => format!("THE TRAIL IS NOT GOOD: {problem} (good before that: {counted})"),
    };
    output::answer(global.json, &value, &brief)?;
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(NOT_GOOD) })
}

async fn checkpoint(place: &Place, global: &Global, origin: &str) -> Result<()> {
    let store = open(place).await?;
    let Some(key) = SealKey::load(&place.keys())? else {
        bail!("there is no key in {}", place.keys().display());
    };
    match audit::checkpoint(&store, &key, origin).await? {
        Some(note) if global.json => output::json_line(&json!({ "checkpoint": note })),
        Some(note) => output::line(note.trim_end()),
        None => bail!("nothing has been sealed yet"),
    }
}
