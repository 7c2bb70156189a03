//! Online backups of a SQLite store, and putting them back.
//!
//! A backup is a plain SQLite file, copied page by page from a snapshot while the hub works, checked,
//! made durable, and only then given its name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::driver::sqlite;
use crate::error::{Result, StoreError};
use crate::migrate;
use crate::store::DATABASE_FILE;
use crate::view_file::{self, View};

/// Pages copied between two looks at the writer.
const PAGES_PER_STEP: i32 = 1_024;

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Threads in it.
    pub threads: i64,
    /// Messages in it.
    pub messages: i64,
    /// Audit entries in it.
    pub audit_entries: i64,
}

/// Copies a whole database file to another while it is in use. Blocks. Tells how many pages are left
/// and how many there are.
pub fn backup(
    source: &Path,
    target: &Path,
    mut progress: impl FnMut(i32, i32),
) -> Result<BackupReport> {
    let partial = target.with_extension("partial");
    remove_if_there(&partial)?;
    let reader = sqlite::open_reader(source)?;
    // One long snapshot: what is committed meanwhile stays out, and the copy never starts over.
    reader.execute_batch("BEGIN; SELECT count(*) FROM hub_fact;")?;
    let mut copy = Connection::open(&partial)?;
    {
        let backup = rusqlite::backup::Backup::new(&reader, &mut copy)?;
        while backup.step(PAGES_PER_STEP)? == rusqlite::backup::StepResult::More {
            let state = backup.progress();
            progress(state.remaining, state.pagecount);
        }
    }
    copy.execute_batch("PRAGMA journal_mode = DELETE")?;
    drop(copy);
    let report = verify_backup(&partial)?;
    make_durable(&partial)?;
    std::fs::rename(&partial, target).map_err(file_error("name the backup", target))?;
    sync_folder(target)?;
    Ok(BackupReport { path: target.to_owned(), ..report })
}

/// Checks that a file is a whole backup, and counts what it holds.
pub fn verify_backup(path: &Path) -> Result<BackupReport> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bad = |error: rusqlite::Error| StoreError::BadBackup(format!("it is damaged ({error})"));
    let bytes = std::fs::metadata(path).map_err(file_error("read", path))?.len();
    let connection = Connection::open_with_flags(path, flags).map_err(bad)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(bad)?;
    let check: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(bad)?;
    if check != "ok" {
        return Err(StoreError::BadBackup(format!("it is damaged ({check})")));
    }
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(bad);
    let found = number("SELECT max(version) FROM schema_version")?;
    if found > migrate::newest() {
        return Err(StoreError::Newer { found, known: migrate::newest() });
    }
    // The oldest messages of a chat may be gone, when its link is being purged.
    let gaps = number(
        "SELECT count(*) FROM thread t WHERE t.head_seq <>
             (SELECT count(*) FROM message m WHERE m.thread = t.id)
             + CASE WHEN EXISTS (SELECT 1 FROM chat c WHERE c.thread = t.id)
                    THEN coalesce((SELECT min(m.seq) - 1 FROM message m WHERE m.thread = t.id),
                                  t.head_seq)
                    ELSE 0 END",
    )?;
    if gaps > 0 {
        return Err(StoreError::BadBackup(format!("messages are missing in {gaps} threads")));
    }
    Ok(BackupReport {
        path: path.to_owned(),
        bytes,
        threads: number("SELECT count(*) FROM thread")?,
        messages: number("SELECT count(*) FROM message WHERE thread > 0")?,
        audit_entries: number("SELECT count(*) FROM audit")?,
    })
}

/// Puts a checked backup into a data folder that nobody uses; what was there is kept beside it.
pub fn restore(backup: &Path, folder: &Path, kept_suffix: &str) -> Result<BackupReport> {
    let report = verify_backup(backup)?;
    let target = folder.join(DATABASE_FILE);
    let partial = folder.join("restore.partial");
    std::fs::copy(backup, &partial).map_err(file_error("copy the backup to", &partial))?;
    verify_backup(&partial)?;
    make_durable(&partial)?;
    for name in [DATABASE_FILE, "waystation.db-wal", "waystation.db-shm"] {
        let old = folder.join(name);
        if old.exists() {
            let kept = folder.join(format!("{name}.{kept_suffix}"));
            std::fs::rename(&old, &kept).map_err(file_error("set aside", &old))?;
        }
    }
    for view in View::ALL {
        view_file::remove(&view.file(folder))?;
    }
    std::fs::rename(&partial, &target).map_err(file_error("put in place", &target))?;
    sync_folder(&target)?;
    Ok(report)
}

fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(file_error("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Syncs a file, or a folder and with it the names in it.
pub(crate) fn make_durable(path: &Path) -> Result<()> {
    std::fs::File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(file_error("make durable", path))
}

fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    make_durable(folder.unwrap_or(Path::new(".")))
}

fn file_error(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.display().to_string();
    move |source| StoreError::File { what: format!("cannot {what} {path}"), source }
}
