//! The file `containment.db`: its tables, and starting afresh when it is damaged or of another
//! format or shape.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::request::IndexProgress;
use super::shape::ContainmentShape;
use crate::error::{Result, StoreError};
use crate::view_file::{self, View};

/// Counts changes to the tables, to folding and to signatures; another number means building anew.
const FORMAT: i64 = 1;
/// More than this file needs.
const STATEMENTS_MAX: usize = 64;

/// Where the index of a folder is.
pub(super) fn file(folder: &Path) -> PathBuf {
    View::Containment.file(folder)
}

/// Opens the index for writing, deleting what is unusable; says how far it goes.
pub(super) fn open_or_rebuild(
    path: &Path,
    database: &str,
    shape: ContainmentShape,
) -> Result<(Connection, IndexProgress)> {
    let named = ("the containment index", database);
    view_file::open_or_rebuild(path, named, |path| open_writer(path, shape))
}

/// Opens a connection that can only read.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    view_file::open_reader(path, STATEMENTS_MAX)
}

fn open_writer(path: &Path, shape: ContainmentShape) -> Result<(Connection, IndexProgress)> {
    let connection = Connection::open(path)?;
    // A full block and a slab of signatures fit into a page, so that each is read at once. The
    // file's own log may grow to 32 MiB: the ends of threads are written again and again, and reach
    // the file itself only when the log is folded into it.
    connection.execute_batch(
        "PRAGMA page_size = 4096;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA wal_autocheckpoint = 8192;
         PRAGMA secure_delete = ON;
         PRAGMA cache_size = -8192;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;",
    )?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    if view_file::is_new(&connection, FORMAT, "format of the containment index")? {
        create(&connection, shape)?;
    }
    let found: String = connection.query_row("SELECT shape FROM progress", [], |row| row.get(0))?;
    if found != shape.words() {
        return Err(StoreError::Corrupt { what: "shape of the containment index" });
    }
    let progress = progress(&connection)?;
    Ok((connection, progress))
}

fn create(connection: &Connection, shape: ContainmentShape) -> Result<()> {
    let shape = shape.words();
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE progress (
             shape TEXT NOT NULL,
             upto INTEGER NOT NULL,
             changes_upto INTEGER NOT NULL,
             -- The highest row ever taken in: rows above it need not be looked for.
             row_max INTEGER NOT NULL
         );
         INSERT INTO progress VALUES ('{shape}', 0, 0, 0);
         CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
         -- The growing end of each thread.
         CREATE TABLE tail (
             thread INTEGER PRIMARY KEY,
             workspace INTEGER NOT NULL,
             newest_ms INTEGER NOT NULL,
             oldest_ms INTEGER NOT NULL,
             row_min INTEGER NOT NULL,
             row_max INTEGER NOT NULL,
             data BLOB NOT NULL
         );
         -- Full blocks, numbered without a gap: block / segment_blocks is the segment.
         CREATE TABLE block (block INTEGER PRIMARY KEY, data BLOB NOT NULL);
         -- The heads and signatures of full blocks whose segment is not sealed yet.
         CREATE TABLE recent (
             block INTEGER PRIMARY KEY,
             workspace INTEGER NOT NULL,
             thread INTEGER NOT NULL,
             newest_ms INTEGER NOT NULL,
             oldest_ms INTEGER NOT NULL,
             row_min INTEGER NOT NULL,
             row_max INTEGER NOT NULL,
             signature BLOB NOT NULL
         );
         -- Sealed segments, with the heads of their blocks.
         CREATE TABLE segment (
             segment INTEGER PRIMARY KEY,
             newest_ms INTEGER NOT NULL,
             oldest_ms INTEGER NOT NULL,
             heads BLOB NOT NULL
         );
         -- Which blocks of a segment have a bit in their signature, for as many bits as fill a page.
         CREATE TABLE slab (slab INTEGER PRIMARY KEY, slices BLOB NOT NULL);
         PRAGMA user_version = {FORMAT};
         COMMIT;",
    ))?;
    Ok(())
}

/// How far the index goes.
pub(super) fn progress(connection: &Connection) -> Result<IndexProgress> {
    let mut select = connection.prepare_cached("SELECT upto, changes_upto FROM progress")?;
    Ok(select
        .query_row([], |row| Ok(IndexProgress { upto: row.get(0)?, changes_upto: row.get(1)? }))?)
}

/// The number of a workspace's or sender's name.
pub(super) fn name_id(connection: &Connection, name: &str) -> Result<Option<u32>> {
    let mut select = connection.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
    Ok(select.query_row([name], |row| row.get(0)).optional()?)
}

/// The name of a workspace or sender.
pub(super) fn name_of(connection: &Connection, id: u32) -> Result<String> {
    let mut select = connection.prepare_cached("SELECT name FROM name WHERE id = ?1")?;
    let name = select.query_row([id], |row| row.get(0)).optional()?;
    name.ok_or(StoreError::Corrupt { what: "name in the containment index" })
}
