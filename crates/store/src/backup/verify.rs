//! Checking that a file is a whole backup.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::digest::Digests;
use super::files::{file_error, with_suffix};
use super::watch::{BackupStep, Watch};
use crate::error::{Result, StoreError};
use crate::migrate;

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
    /// What it was checked against.
    pub compared: Compared,
}

/// What a backup was checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Digests of everything it was made of.
    Content,
    /// Nothing: it was made before backups had digests, and only its structure could be checked.
    Structure,
}

/// Whether a file is a backup, whole or not. The database of a hub is none: it keeps a log.
pub fn is_backup(path: &Path) -> bool {
    let mut head = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    // SQLite's mark, and that nothing is written beside the file.
    let is_plain = head.starts_with(b"SQLite format 3\0") && head.ends_with(&[1, 1]);
    let known = "SELECT count(*) FROM schema_version, hub_fact";
    read.is_ok()
        && is_plain
        && open(path, &Watch::nobody()).is_ok_and(|database| database.prepare(known).is_ok())
}

/// Refuses a file of which some stands beside it. Of a backup nothing ever does.
pub(super) fn check_nothing_beside(path: &Path) -> Result<()> {
    for beside in ["-wal", "-journal"].map(|suffix| with_suffix(path, suffix)) {
        if std::fs::metadata(&beside).is_ok_and(|found| found.len() > 0) {
            return Err(StoreError::BadBackup(format!(
                "it is the database of a hub, and some of it stands in {}; let waystation backup make \
                 a backup of it",
                beside.display()
            )));
        }
    }
    Ok(())
}

/// Checks that a file is a whole backup, and counts what it holds. Blocks.
pub fn verify_backup(path: &Path, watch: &Watch<'_>) -> Result<BackupReport> {
    check_nothing_beside(path)?;
    let bytes = std::fs::metadata(path).map_err(file_error("read", path))?.len();
    let verified = open(path, watch).and_then(|connection| {
        check_structure(&connection, watch)?;
        let compared = compare_content(&connection, watch)?;
        check_threads(&connection)?;
        let number = |sql: &str| number(&connection, sql);
        Ok(BackupReport {
            path: path.to_owned(),
            bytes,
            threads: number("SELECT count(*) FROM thread")?,
            messages: number("SELECT count(*) FROM message WHERE thread > 0")?,
            audit_entries: number("SELECT count(*) FROM audit")?,
            compared,
        })
    });
    verified.map_err(|error| match watch.meant(error) {
        StoreError::Sqlite(error) => StoreError::BadBackup(format!("it is damaged ({error})")),
        error => error,
    })
}

fn open(path: &Path, watch: &Watch<'_>) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    watch.attach(&mut connection)?;
    Ok(connection)
}

fn number(connection: &Connection, sql: &str) -> Result<i64> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

fn check_structure(connection: &Connection, watch: &Watch<'_>) -> Result<()> {
    watch.at(BackupStep::Checking, 0, 0)?;
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if check != "ok" {
        return Err(StoreError::BadBackup(format!("it is damaged ({check})")));
    }
    let found = number(connection, "SELECT max(version) FROM schema_version")?;
    if found > migrate::newest() {
        return Err(StoreError::Newer { found, known: migrate::newest() });
    }
    Ok(())
}

/// Whether it holds what it was made of, to the last bit.
fn compare_content(connection: &Connection, watch: &Watch<'_>) -> Result<Compared> {
    let Some(said) = Digests::said_by(connection)? else { return Ok(Compared::Structure) };
    let differences = Digests::of(connection, watch)?.differences(&said);
    if differences.is_empty() {
        return Ok(Compared::Content);
    }
    Err(StoreError::BadBackup(format!("it is damaged: {}", differences.join(", "))))
}

fn check_threads(connection: &Connection) -> Result<()> {
    // The oldest messages of a chat may be gone, when its link is being purged.
    let gaps = number(
        connection,
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
    Ok(())
}
