//! SQLite files that are views of the log: they may be deleted at any time and built again.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{Result, StoreError};

/// The views of a data folder. Every view has its file from here, so that whoever must take all of them
/// away, as putting back a backup does, finds all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Finds words in threads.
    Search,
    /// Finds any part of a text in chats.
    Containment,
    /// Finds memories and documents.
    Memory,
}

impl View {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Search, Self::Containment, Self::Memory];

    /// Where the view of a folder is.
    pub(crate) fn file(self, folder: &Path) -> PathBuf {
        folder.join(self.file_name())
    }

    const fn file_name(self) -> &'static str {
        match self {
            Self::Search => "search.db",
            Self::Containment => "containment.db",
            Self::Memory => "memory.db",
        }
    }
}

/// Opens the view of a database for writing, deleting what is unusable and what is of another database.
/// `what` is its name, for whoever reads the log.
pub(crate) fn open_or_rebuild<T>(
    path: &Path,
    (what, database): (&str, &str),
    open: impl Fn(&Path) -> Result<(Connection, T)>,
) -> Result<(Connection, T)> {
    let open_own = || {
        let is_new = !path.exists();
        let opened = open(path)?;
        if is_new {
            make_own(&opened.0, database)?;
        } else {
            check_own(&opened.0, database)?;
        }
        Ok(opened)
    };
    match open_own() {
        Ok(opened) => Ok(opened),
        Err(StoreError::Full) => Err(StoreError::Full),
        Err(error) => {
            tracing::warn!(%error, "{what} is unusable and will be built again");
            remove(path)?;
            open_own()
        }
    }
}

/// Notes in a new view of which database it is.
fn make_own(connection: &Connection, database: &str) -> Result<()> {
    connection.execute_batch("CREATE TABLE IF NOT EXISTS view_of (database TEXT NOT NULL)")?;
    connection.execute("INSERT INTO view_of (database) VALUES (?1)", [database])?;
    Ok(())
}

/// Refuses a view of another database. The numbers of rows are alike, and what they hold is not.
fn check_own(connection: &Connection, database: &str) -> Result<()> {
    let of: rusqlite::Result<String> =
        connection.query_row("SELECT database FROM view_of", [], |row| row.get(0));
    match of {
        Ok(of) if of == database => Ok(()),
        _ => Err(StoreError::OtherView),
    }
}

/// Opens a connection to a view that can only read.
pub(crate) fn open_reader(path: &Path, statements_max: usize) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(
        "PRAGMA query_only = ON;
         PRAGMA cache_size = -16384;
         PRAGMA mmap_size = 0;
         PRAGMA busy_timeout = 5000;",
    )?;
    connection.set_prepared_statement_cache_capacity(statements_max);
    Ok(connection)
}

/// What a file is, by its format: ours, new, or something else.
pub(crate) fn is_new(connection: &Connection, format: i64, what: &'static str) -> Result<bool> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (found, tables) {
        (found, _) if found == format => Ok(false),
        (0, 0) => Ok(true),
        _ => Err(StoreError::Corrupt { what }),
    }
}

/// Deletes a view. Connections that are still open keep what they see.
pub(crate) fn remove(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                let what = format!("cannot delete {}", Path::new(&name).display());
                return Err(StoreError::File { what, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an error says that the file itself is broken.
pub(crate) fn is_damage(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Sqlite(rusqlite::Error::SqliteFailure(failure, _))
            if matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
