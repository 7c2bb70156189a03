//! The file `memory.db`: its tables, and starting afresh when it is damaged or of another format.
//!
//! Each area has an FTS5 table of its own: the weights of words come from the area alone, and a search
//! never walks what its caller may not see. The table keeps its text, and what is deleted is overwritten.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::request::Area;
use crate::error::Result;
use crate::view_file::{self, View};

/// Counts changes to the tables or to how text becomes words; another number means building anew.
const FORMAT: i64 = 1;
const STATEMENTS_MAX: usize = 256;

/// Where the view of a folder is.
pub(super) fn file(folder: &Path) -> PathBuf {
    View::Memory.file(folder)
}

/// Opens the view for writing, deleting what is unusable; says how far it goes.
pub(super) fn open_or_rebuild(path: &Path, database: &str) -> Result<(Connection, i64)> {
    view_file::open_or_rebuild(path, ("the view of memories", database), open_writer)
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
         PRAGMA secure_delete = ON;
         PRAGMA cache_size = -16384;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;",
    )?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    if view_file::is_new(&connection, FORMAT, "format of the view of memories")? {
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
         CREATE TABLE area (
             id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, kind INTEGER NOT NULL,
             UNIQUE (workspace, kind)
         );
         -- The key is twice the row, and one more for a piece of a document.
         CREATE TABLE doc (
             key INTEGER PRIMARY KEY,
             area INTEGER NOT NULL,
             thread INTEGER NOT NULL,
             embedding TEXT NOT NULL,
             vector BLOB NOT NULL
         );
         CREATE INDEX doc_area ON doc (area, key);
         PRAGMA user_version = {FORMAT};
         COMMIT;",
    ))?;
    Ok(())
}

/// How far the view goes.
pub(super) fn indexed_upto(connection: &Connection) -> Result<i64> {
    Ok(connection.prepare_cached("SELECT upto FROM progress")?.query_row([], |row| row.get(0))?)
}

/// The number of an area.
pub(super) fn area_id(connection: &Connection, area: &Area) -> Result<Option<i64>> {
    let mut select =
        connection.prepare_cached("SELECT id FROM area WHERE workspace = ?1 AND kind = ?2")?;
    Ok(select.query_row(params![area.workspace, area.kind.code()], |row| row.get(0)).optional()?)
}

/// The number of an area, which is made if it is new.
pub(super) fn add_area(connection: &Connection, area: &Area) -> Result<i64> {
    if let Some(known) = area_id(connection, area)? {
        return Ok(known);
    }
    connection.execute(
        "INSERT INTO area (workspace, kind) VALUES (?1, ?2)",
        params![area.workspace, area.kind.code()],
    )?;
    let id = connection.last_insert_rowid();
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE words_{id} USING fts5(
             text, tokenize='porter unicode61 remove_diacritics 2'
         );
         INSERT INTO words_{id} (words_{id}, rank) VALUES ('secure-delete', 1);"
    ))?;
    Ok(id)
}
