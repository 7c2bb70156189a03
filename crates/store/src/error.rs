//! What can go wrong between the hub and its database.

use std::path::PathBuf;

/// The result of every store call.
pub type Result<T> = std::result::Result<T, StoreError>;

/// What can go wrong between the hub and its database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk has no room left. Reading goes on.
    #[error("the disk that holds the data folder is full; free some room and try again")]
    Full,
    /// A write could not be made durable. The process must end and recover.
    #[error("the disk refused to make a write durable; the hub stops to recover")]
    Failed,
    /// More changes wait than the queue holds.
    #[error("more changes are waiting than the hub can take; try again shortly")]
    Overloaded,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// A transaction function panicked.
    #[error("a transaction broke off; it was rolled back")]
    Broken,
    /// A stored value is not what it must be.
    #[error("the stored {what} is not readable")]
    Corrupt {
        /// Which value.
        what: &'static str,
    },
    /// A view shows another database than the one that was opened.
    #[error("it is a view of another database")]
    OtherView,
    /// The database is newer than this program.
    #[error(
        "the database is at schema {found}, this program knows up to {known}; use a newer program"
    )]
    Newer {
        /// The schema found.
        found: i64,
        /// The newest this program knows.
        known: i64,
    },
    /// The database is older than this program, and nobody has brought it forward.
    #[error(
        "the database is at schema {found}, this program reads {known}; start a hub of this program \
         on it once, which brings it forward"
    )]
    Older {
        /// The schema found.
        found: i64,
        /// The one this program reads.
        known: i64,
    },
    /// A file could not be read or written.
    #[error("{what}")]
    File {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A backup does not hold what it should.
    #[error("this backup cannot be used: {0}")]
    BadBackup(String),
    /// There is no database where a restore has set one aside.
    #[error(
        "there is no {}, but one that a restore has set aside: {}; give that its name back, or restore \
         a backup once more, or move it elsewhere to begin with nothing",
        database.display(),
        aside.display()
    )]
    SetAside {
        /// Where the database should be.
        database: PathBuf,
        /// The one that was set aside last.
        aside: PathBuf,
    },
    /// Another process reads a database that is to be set aside.
    #[error("another process reads {}; end it, then try again", database.display())]
    BeingRead {
        /// The database.
        database: PathBuf,
    },
    /// Whoever waited for it called it off.
    #[error("called off; nothing was changed")]
    CalledOff,
    /// A search that asks for nothing the index could hold.
    #[error("this search cannot be answered: {0}")]
    BadQuery(String),
    /// SQLite said no.
    #[error("the database refused a statement")]
    Sqlite(#[source] rusqlite::Error),
    /// SQLite has no way to its files.
    #[error("the database cannot be opened")]
    NoFiles(#[from] logfile::Unavailable),
    /// PostgreSQL has too much to do, or was told to break off: a lock took too long, memory ran out.
    #[error("the database cannot take this right now")]
    Busy(#[source] postgres::Error),
    /// PostgreSQL said no.
    #[error("the database refused a statement")]
    Postgres(#[source] postgres::Error),
    /// PostgreSQL is not there, or went away. Whether a change that was under way happened is unknown.
    #[error("the database cannot be reached right now")]
    Unreachable(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The database's URL cannot be used.
    #[error("the database's URL cannot be used: {0}")]
    BadUrl(String),
}

impl StoreError {
    /// Whether the database cannot be reached right now.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }

    /// Whether the disk itself failed, so that nothing written since may be trusted.
    pub(crate) fn is_disk_failure(&self) -> bool {
        use rusqlite::ErrorCode as Code;
        matches!(
            self,
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _))
                if matches!(error.code, Code::SystemIoFailure | Code::DatabaseCorrupt)
        )
    }

    /// Whether running the same transaction again may succeed.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Postgres(error) => error.code().is_some_and(|state| {
                use postgres::error::SqlState;
                *state == SqlState::T_R_DEADLOCK_DETECTED
                    || *state == SqlState::T_R_SERIALIZATION_FAILURE
                    || *state == SqlState::UNIQUE_VIOLATION
            }),
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(inner, _)
                if inner.code == rusqlite::ErrorCode::DiskFull =>
            {
                Self::Full
            }
            _ => Self::Sqlite(error),
        }
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        match error.code() {
            Some(state) if *state == postgres::error::SqlState::DISK_FULL => Self::Full,
            _ if is_gone(&error) => Self::Unreachable(Some(Box::new(error))),
            Some(state) if is_passing(state) => Self::Busy(error),
            _ => Self::Postgres(error),
        }
    }
}

/// Whether the same may go well in a moment.
fn is_passing(state: &postgres::error::SqlState) -> bool {
    use postgres::error::SqlState;
    // Class 53: not enough of something.
    state.code().starts_with("53")
        || [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED].contains(state)
}

/// Whether the server ended, is ending or beginning, or the way to it broke.
fn is_gone(error: &postgres::Error) -> bool {
    use postgres::error::SqlState;
    let source = std::error::Error::source(error);
    match error.code() {
        Some(state) => {
            state.code().starts_with("08")
                || [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                ]
                .contains(state)
        }
        None => {
            error.is_closed() || source.is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
        }
    }
}
