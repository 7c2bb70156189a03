//! SQLite: opening connections with the settings that durability and speed need.

use std::path::Path;

use protocol::limits;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::tx::{self, Tx};

/// Before this release a checkpoint beside a writer could corrupt the file.
const OLDEST_SAFE: i32 = 3_051_003;

/// What one page takes, in the file and in the log.
pub(crate) const PAGE_BYTES: u64 = 4_096;

/// Opens the connection that writes. What it deletes is overwritten, because some of it must be
/// forgotten: messages that expire, chats that are purged.
pub(crate) fn open_writer(path: &Path) -> Result<Connection> {
    if rusqlite::version_number() < OLDEST_SAFE {
        return Err(StoreError::Corrupt { what: "SQLite library (it is older than 3.51.3)" });
    }
    let layer = logfile::layer()?;
    let connection = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), layer)?;
    connection.execute_batch(
        "PRAGMA page_size = 4096;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA cache_size = -16384;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;
         PRAGMA secure_delete = ON;
         PRAGMA cell_size_check = ON;",
    )?;
    keep_statements(&connection)?;
    Ok(connection)
}

/// Opens a connection that can only read.
pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(
        "PRAGMA query_only = ON;
         PRAGMA cache_size = -4096;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;",
    )?;
    keep_statements(&connection)?;
    lower_every_alphabet(&connection)?;
    Ok(connection)
}

/// Lets a database that no newer program has brought forward be read as if one had: its audit trail has
/// no commitments to details, and can be verified all the same.
pub(crate) fn show_older_trail(connection: &Connection) -> Result<()> {
    if connection.prepare("SELECT detail_commitment FROM audit").is_ok() {
        return Ok(());
    }
    // Views of a connection's own come before the tables of the file.
    Ok(connection.execute_batch(
        "PRAGMA query_only = OFF;
         PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW audit AS SELECT *, NULL AS detail_commitment FROM main.audit;
         PRAGMA query_only = ON;",
    )?)
}

/// Every statement is prepared once. Without the second setting SQLite prepares some of them again
/// whenever a parameter changes, to see whether another plan would fit the new value better.
fn keep_statements(connection: &Connection) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(limits::STATEMENTS_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// SQLite's own `lower` knows ASCII alone; PostgreSQL's knows every alphabet.
fn lower_every_alphabet(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    Ok(connection.create_scalar_function("lower", 1, flags, |context| {
        Ok(context.get_raw(0).as_str_or_null()?.map(str::to_lowercase))
    })?)
}

/// Runs reading jobs on one snapshot, which is taken after all of them were asked for.
pub(crate) fn run_reads(connection: &Connection, jobs: &mut Vec<Box<dyn Job>>) {
    let statement =
        |sql| -> Result<()> { Ok(connection.prepare_cached(sql)?.raw_execute().map(drop)?) };
    for mut job in jobs.drain(..) {
        if connection.is_autocommit()
            && let Err(error) = statement("BEGIN")
        {
            job.settle(Err(error));
            continue;
        }
        job.run(&mut Tx::new(tx::Connection::Sqlite(connection)));
        job.settle(Ok(()));
    }
    if !connection.is_autocommit()
        && let Err(error) = statement("COMMIT")
    {
        tracing::warn!(%error, "a snapshot could not be let go");
    }
}

/// Copies as much of the log into the database file as readers allow, and says how many of its pages
/// have been copied by now.
pub(crate) fn checkpoint(connection: &Connection) -> Result<u64> {
    let copied = connection
        .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?
        .query_row([], |row| row.get::<_, i64>(2))?;
    Ok(u64::try_from(copied).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often this thread asked the kernel to write.
    fn writes() -> u64 {
        let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        io.lines().find_map(|line| line.strip_prefix("syscw: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn the_writer_flushes_its_log_at_each_commit() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_writer(&folder.path().join("it.db")).unwrap();
        let full: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
        assert_eq!(full, 2, "the layer of the log hides a commit from others until it is flushed");
    }

    #[test]
    fn a_commit_of_many_pages_is_few_writes() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_writer(&folder.path().join("it.db")).unwrap();
        connection.execute_batch("CREATE TABLE page (text TEXT NOT NULL); BEGIN").unwrap();
        for _ in 0..100 {
            connection.execute("INSERT INTO page VALUES (?1)", ["x".repeat(4_000)]).unwrap();
        }
        let before = writes();
        connection.execute_batch("COMMIT").unwrap();
        let asked = writes() - before;
        assert!(asked <= 5, "{asked} writes for 100 pages");
    }
}
