//! SQLite files that are views of the log: they may be deleted at any time and built again.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Result, StoreError};

/// Deletes a view. Connections that are still open keep what they see.
pub(crate) fn remove(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                let what = "an unusable search index cannot be deleted".to_owned();
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
