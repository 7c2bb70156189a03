//! The file `search.db`: its tables, and starting afresh when it is damaged or of another format.
//!
//! The log is cut into volumes of consecutive rows, each with an FTS5 table of its own, so that the
//! work on one volume is bounded whatever is asked.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::view_file::{self, View};

/// Counts changes to the tables or to how text becomes words; another number means building anew.
const FORMAT: i64 = 1;
/// Rows of a volume, as a power of two.
const VOLUME_BITS: u32 = 15;
/// A statement for each volume of ten million messages, and some.
const STATEMENTS_MAX: usize = 512;

/// Where the index of a folder is.
pub(super) fn file(folder: &Path) -> PathBuf {
    View::Search.file(folder)
}

/// The volume of a row.
pub(super) fn volume_of(row: i64) -> i64 {
    row >> VOLUME_BITS
}

/// The first row of a volume.
pub(super) fn first_row(volume: i64) -> i64 {
    volume << VOLUME_BITS
}

/// Opens the index for writing, deleting what is unusable; says how far it goes.
pub(super) fn open_or_rebuild(path: &Path, database: &str) -> Result<(Connection, i64)> {
    view_file::open_or_rebuild(path, ("the search index", database), open_writer)
}

/// Opens a connection that can only read.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    view_file::open_reader(path, STATEMENTS_MAX)
}

fn open_writer(path: &Path) -> Result<(Connection, i64)> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA page_size = 4096;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA cache_size = -32768;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;",
    )?;
    if view_file::is_new(&connection, FORMAT, "format of the search index")? {
        create(&connection)?;
    }
    let upto = indexed_upto(&connection)?;
    Ok((connection, upto))
}

fn create(connection: &Connection) -> Result<()> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE progress (upto INTEGER NOT NULL);
         INSERT INTO progress (upto) VALUES (0);
         CREATE TABLE volume (volume INTEGER PRIMARY KEY, state INTEGER NOT NULL);
         CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
         CREATE TABLE doc (
             row INTEGER PRIMARY KEY,
             thread INTEGER NOT NULL,
             workspace INTEGER NOT NULL,
             seq INTEGER NOT NULL,
             sender INTEGER NOT NULL,
             kind INTEGER NOT NULL,
             created_ms INTEGER NOT NULL
         );
         -- Which threads have messages in a volume.
         CREATE TABLE spread (
             volume INTEGER NOT NULL,
             thread INTEGER NOT NULL,
             PRIMARY KEY (volume, thread)
         ) WITHOUT ROWID;
         PRAGMA user_version = {FORMAT};
         COMMIT;",
    ))?;
    Ok(())
}

/// Makes sure that a volume has its tables; `true` when it is new.
pub(super) fn add_volume(connection: &Connection, volume: i64) -> Result<bool> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO volume (volume, state) VALUES (?1, 0) ON CONFLICT DO NOTHING",
    )?;
    if insert.execute([volume])? == 0 {
        return Ok(false);
    }
    // Contentless: the text stands in the log. `detail` stays full, for phrases.
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE words_{volume} USING fts5(
             text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
         )"
    ))?;
    Ok(true)
}

/// How far the index goes.
pub(super) fn indexed_upto(connection: &Connection) -> Result<i64> {
    Ok(connection.prepare_cached("SELECT upto FROM progress")?.query_row([], |row| row.get(0))?)
}

/// The number of a workspace's or sender's name.
pub(super) fn name_id(connection: &Connection, name: &str) -> Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
    Ok(select.query_row([name], |row| row.get(0)).optional()?)
}
