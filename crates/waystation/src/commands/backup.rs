//! Backups and putting them back.

mod trail;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use hub::{Clock, SystemClock};
use serde_json::{Value, json};
use store::{
    BackupReport, BackupStep, CarriedRevocations, Compared, PutInPlace, Staged, StoreError, Watch,
};
use tokio_util::sync::CancellationToken;
use trail::Trail;

use super::progress::Percent;
use super::target::{self, Written};
use crate::cli::{Global, RestoreArgs};
use crate::paths::{self, Place};
use crate::{output, owner, reach};

/// `waystation backup FILE`: works beside a running hub.
pub(crate) async fn backup(place: &Place, global: &Global, file: &Path) -> Result<()> {
    if !place.config()?.store.postgres_url.is_empty() {
        bail!("this hub keeps its data in PostgreSQL; back it up with pg_dump");
    }
    let database = place.database();
    if !database.exists() {
        bail!("there is nothing to back up in {}", place.shown());
    }
    target::check(place, file, &Written { what: "backup", is_one: store::is_backup })?;
    let to = file.to_owned();
    let copying = |off| async move {
        watched(global, &off, move |watch| store::backup(&database, &to, watch)).await
    };
    let report = unless_asked_to_stop(copying).await;
    let report = report.with_context(|| format!("cannot back up to {}", file.display()))?;
    Told::of("backed up", &report).print(global)
}

/// `waystation restore FILE`: needs the folder for itself.
pub(crate) async fn restore(place: &Place, global: &Global, args: &RestoreArgs) -> Result<()> {
    let file = args.file.as_path();
    if file.is_dir() {
        bail!("{} is a folder; name the file that waystation backup wrote", file.display());
    }
    let told = if args.verify {
        unless_asked_to_stop(|off| verify(place, global, args, off)).await
    } else {
        unless_asked_to_stop(|off| put_back(place, global, args, off)).await
    };
    told?.print(global)
}

async fn verify(
    place: &Place,
    global: &Global,
    args: &RestoreArgs,
    off: CancellationToken,
) -> Result<Told> {
    let from = args.file.clone();
    let report = watched(global, &off, move |watch| store::verify_backup(&from, watch)).await;
    let report = report.with_context(|| unusable(args))?;
    let trail = trail_of(place, global, args, (&args.file, &off)).await?;
    Ok(Told::of("whole backup:", &report).and_trail(&trail))
}

async fn put_back(
    place: &Place,
    global: &Global,
    args: &RestoreArgs,
    off: CancellationToken,
) -> Result<Told> {
    let config = place.config()?;
    if !config.store.postgres_url.is_empty() {
        bail!(
            "this hub keeps its data in PostgreSQL, and a backup of an embedded database cannot be put \
             there; put a dump back with pg_restore, or choose another folder with --data"
        );
    }
    place.create()?;
    let taking_over = off.run_until_cancelled(reach::take_over(place, &config.workspace));
    let _lock = taking_over.await.ok_or(StoreError::CalledOff)??;
    let (from, folder) = (args.file.clone(), place.folder.clone());
    let staged = watched(global, &off, move |watch| Staged::new(&from, &folder, watch)).await;
    let staged = staged.with_context(|| unusable(args))?;
    let report = staged.report().clone();
    let trail = trail_of(place, global, args, (staged.file(), &off)).await?;
    // From here on it is too late: what is put in place is put there whole.
    if off.is_cancelled() {
        return Err(StoreError::CalledOff).with_context(|| unusable(args));
    }
    let now = SystemClock.now();
    let put = tokio::task::spawn_blocking(move || staged.put_in_place(now));
    let put = put.await?.with_context(|| unusable(args))?;
    let told = Told::of("restored", &report).and_trail(&trail);
    Ok(told.and_put(&put, place.keys().exists()))
}

fn unusable(args: &RestoreArgs) -> String {
    format!("cannot restore {}", args.file.display())
}

/// Verifies the trail of a file; fails when it is not good, unless it is to be taken all the same.
async fn trail_of(
    place: &Place,
    global: &Global,
    args: &RestoreArgs,
    (file, off): (&Path, &CancellationToken),
) -> Result<Trail> {
    let trail = trail::check(place, global, file, off).await?;
    if !args.despite_trail {
        trail.refuse_if_bad()?;
    }
    Ok(trail)
}

/// Runs all that a command does. A signal at any time calls it off, and it cleans up after itself.
async fn unless_asked_to_stop<T, F: Future<Output = Result<T>>>(
    work: impl FnOnce(CancellationToken) -> F,
) -> Result<T> {
    let asked = owner::asked_to_stop();
    let off = CancellationToken::new();
    let mut working = pin!(work(off.clone()));
    tokio::select! {
        // Looked at first: what ends just then must not go on to its next step.
        biased;
        () = asked => off.cancel(),
        done = &mut working => return done,
    }
    working.await
}

/// Runs what takes long on a thread of its own.
async fn watched<T: Send + 'static>(
    global: &Global,
    off: &CancellationToken,
    work: impl FnOnce(&Watch<'_>) -> store::Result<T> + Send + 'static,
) -> Result<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let percent = Percent::new(global);
    let flag = Arc::clone(&stop);
    let mut working = tokio::task::spawn_blocking(move || {
        let tell = |step, done, total| percent.draw(words(step), done, total);
        work(&Watch { stop: flag, tell: &tell })
    });
    let done = tokio::select! {
        done = &mut working => done,
        () = off.cancelled() => {
            stop.store(true, Ordering::Relaxed);
            working.await
        }
    };
    percent.clear();
    Ok(done??)
}

fn words(step: BackupStep) -> &'static str {
    match step {
        BackupStep::Copying => "copying",
        BackupStep::Reading => "reading",
        BackupStep::Checking => "checking the structure",
    }
}

/// What is said at the end: for scripts a value, for people lines.
struct Told {
    value: Value,
    lines: Vec<String>,
}

impl Told {
    fn of(done: &str, report: &BackupReport) -> Self {
        let compared = match report.compared {
            Compared::Content => "content",
            Compared::Structure => "structure",
        };
        let value = json!({
            "path": report.path, "bytes": report.bytes, "threads": report.threads,
            "messages": report.messages, "audit_entries": report.audit_entries,
            "compared": compared,
        });
        let mut lines = vec![format!(
            "{done} {}: {} threads, {} messages, {} audit entries, {} bytes",
            paths::shown(&report.path),
            report.threads,
            report.messages,
            report.audit_entries,
            report.bytes
        )];
        if report.compared == Compared::Structure {
            lines.push(
                "It was made before backups carried digests: only its structure could be checked, \
                 not whether every text in it is as it was."
                    .to_owned(),
            );
        }
        Self { value, lines }
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        if let Value::Object(map) = &mut self.value {
            map.insert(key.to_owned(), value);
        }
        self
    }

    fn and_trail(mut self, trail: &Trail) -> Self {
        self.lines.push(trail.words());
        self.with("audit_trail", trail.value())
    }

    fn and_put(mut self, put: &PutInPlace, has_keys: bool) -> Self {
        if let Some(aside) = &put.aside {
            self.lines.push(format!("What was there is kept in {}.", paths::shown(aside)));
        }
        if put.actions_given_up > 0 {
            self.lines.push(format!(
                "Actions that were on their way when the backup was made may have left since: {} given \
                 up. waystation outbox --state dead shows them, waystation outbox redrive ID asks the \
                 service and sends what did not arrive, waystation outbox cancel ID lets one be.",
                put.actions_given_up
            ));
        }
        self.with("set_aside", json!(put.aside))
            .with("actions_given_up", json!(put.actions_given_up))
            .and_revocations(put.revocations, has_keys)
    }

    fn and_revocations(mut self, revocations: CarriedRevocations, has_keys: bool) -> Self {
        let carried = match revocations {
            CarriedRevocations::Carried(count) => Some(count),
            CarriedRevocations::Lost | CarriedRevocations::Unknown => None,
        };
        match revocations {
            CarriedRevocations::Carried(0) => {}
            CarriedRevocations::Carried(count) => self.lines.push(format!(
                "Tokens that were revoked since the backup stay revoked: {count} taken over."
            )),
            // Without the keys that signed them, no token of before is good anyway.
            CarriedRevocations::Unknown if !has_keys => {}
            CarriedRevocations::Lost | CarriedRevocations::Unknown => self.lines.push(
                "TOKENS THAT WERE REVOKED SINCE THE BACKUP WORK AGAIN, for nobody knows which they \
                 are. waystation token list shows those of the backup, waystation token revoke ID \
                 revokes one; to end every token there is, delete keys/token-*.pk8 in the data folder \
                 before the next start."
                    .to_owned(),
            ),
        }
        self.with("revocations_carried", json!(carried))
    }

    fn print(&self, global: &Global) -> Result<()> {
        output::answer(global.json, &self.value, &self.lines.join("\n"))
    }
}
