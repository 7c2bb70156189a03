//! Backups and putting them back.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;
use store::BackupReport;

use crate::cli::Global;
use crate::paths::{self, Place};
use crate::{output, reach};

/// `waystation backup FILE`: works beside a running hub.
pub(crate) fn backup(place: &Place, global: &Global, file: &Path) -> Result<()> {
    if !place.config()?.store.postgres_url.is_empty() {
        bail!("this hub keeps its data in PostgreSQL; back it up with pg_dump");
    }
    let database = place.database();
    if !database.exists() {
        bail!("there is nothing to back up in {}", place.shown());
    }
    let report = store::backup(&database, file, |left, total| show_progress(global, left, total))?;
    clear_progress(global);
    print(global, "backed up", &report)
}

/// `waystation restore FILE`: needs the folder for itself.
pub(crate) async fn restore(
    place: &Place,
    global: &Global,
    file: &Path,
    verify: bool,
) -> Result<()> {
    if verify {
        return print(global, "whole backup:", &store::verify_backup(file)?);
    }
    place.create()?;
    let workspace = place.config()?.workspace;
    let _lock = reach::take_over(place, &workspace).await?;
    let suffix = format!("before-restore-{}", hub::Clock::now(&hub::SystemClock).as_ms());
    let report = store::restore(file, &place.folder, &suffix)
        .with_context(|| format!("cannot restore {}", file.display()))?;
    print(global, "restored", &report)
}

fn print(global: &Global, done: &str, report: &BackupReport) -> Result<()> {
    let value = json!({
        "path": report.path, "bytes": report.bytes, "threads": report.threads,
        "messages": report.messages, "audit_entries": report.audit_entries,
    });
    let brief = format!(
        "{done} {}: {} threads, {} messages, {} audit entries, {} bytes",
        paths::shown(&report.path),
        report.threads,
        report.messages,
        report.audit_entries,
        report.bytes
    );
    output::answer(global.json, &value, &brief)
}

fn show_progress(global: &Global, left: i32, total: i32) {
    let mut terminal = std::io::stderr();
    if global.json || !terminal.is_terminal() || total == 0 {
        return;
    }
    let percent = i64::from(total - left) * 100 / i64::from(total);
    // A progress line that cannot be shown is not worth failing for.
    drop(write!(terminal, "\rcopying {percent:>3} %").and_then(|()| terminal.flush()));
}

fn clear_progress(global: &Global) {
    let mut terminal = std::io::stderr();
    if !global.json && terminal.is_terminal() {
        drop(write!(terminal, "\r\x1b[K").and_then(|()| terminal.flush()));
    }
}
