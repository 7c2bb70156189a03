//! The database that a restore takes the place of. It is kept whole under another name, and at no moment
//! is there none: an owner that starts just then would begin an empty one.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use protocol::Timestamp;

use super::files::{BESIDE, file_error, sync_folder, with_suffix};
use crate::driver::sqlite;
use crate::error::{Result, StoreError};
use crate::store::DATABASE_FILE;
use crate::view_file;

/// What a database that was set aside has behind its name; the time follows.
const ASIDE: &str = ".before-restore-";

/// Sets the database aside whose place another is about to take, and says what it is called there.
pub(super) fn set_aside(database: &Path, now: Timestamp) -> Result<Option<PathBuf>> {
    let aside = with_suffix(database, &format!("{ASIDE}{}", now.as_ms()));
    let is_there = database.exists();
    if is_there {
        match take_in_log(database) {
            Ok(()) => give_second_name(database, &aside)?,
            Err(error) if view_file::is_damage(&error) || error.is_disk_failure() => {
                tracing::warn!(%error, "the database that was there is set aside as it is");
                rename(database, &aside)?;
            }
            Err(error) => return Err(error),
        }
    }
    // Whatever stands beside the name would be read into the next one that has it.
    for suffix in BESIDE {
        let beside = with_suffix(database, suffix);
        if beside.exists() {
            rename(&beside, &with_suffix(&aside, suffix))?;
        }
    }
    sync_folder(database)?;
    Ok(is_there.then_some(aside))
}

/// Makes sure that there is a database where a restore has set one aside, and lets go of the second name
/// that one has whose place was never taken. Whoever calls it owns the folder.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let database = folder.join(DATABASE_FILE);
    let all_aside = || all_in(folder).map_err(file_error("read the folder", folder));
    match std::fs::metadata(&database) {
        Ok(found) if found.nlink() == 1 => Ok(()),
        Ok(found) => {
            for (_, aside) in all_aside()? {
                if is_same(&found, &aside) {
                    std::fs::remove_file(&aside).map_err(file_error("remove", &aside))?;
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let newest = all_aside()?.into_iter().max();
            newest.map_or(Ok(()), |(_, aside)| Err(StoreError::SetAside { database, aside }))
        }
        Err(error) => Err(file_error("look at", &database)(error)),
    }
}

fn is_same(found: &Metadata, path: &Path) -> bool {
    let other = std::fs::symlink_metadata(path);
    other.is_ok_and(|other| (found.dev(), found.ino()) == (other.dev(), other.ino()))
}

/// Takes its log into a database, so that nothing need stand beside it.
fn take_in_log(database: &Path) -> Result<()> {
    let connection = sqlite::open_writer(database)?;
    let is_read: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    if is_read { Err(StoreError::BeingRead { database: database.to_owned() }) } else { Ok(()) }
}

fn give_second_name(database: &Path, aside: &Path) -> Result<()> {
    match std::fs::hard_link(database, aside) {
        // Not every file system knows second names. Until the other has its name there is no database
        // then, and none is begun meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            rename(database, aside)
        }
        linked => linked.map_err(file_error("set aside", database)),
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(file_error("set aside", from))
}

/// The databases that restores have set aside in a folder, each with when that was.
fn all_in(folder: &Path) -> std::io::Result<Vec<(i64, PathBuf)>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let time = name.to_str().and_then(|name| name.strip_prefix(DATABASE_FILE));
        let time = time.and_then(|rest| rest.strip_prefix(ASIDE)).and_then(|ms| ms.parse().ok());
        all.extend(time.map(|at| (at, folder.join(&name))));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    const AT: Timestamp = Timestamp::from_ms(7);
    const NAME_ASIDE: &str = "waystation.db.before-restore-7";

    /// A folder with a database and what an owner that was killed leaves beside it.
    fn left_by_a_killed_owner() -> tempfile::TempDir {
        let [folder, copy] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let connection = sqlite::open_writer(&folder.path().join(DATABASE_FILE)).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (x TEXT); PRAGMA wal_checkpoint(TRUNCATE);
                 INSERT INTO t VALUES ('kept');",
            )
            .unwrap();
        for name in names(folder.path()) {
            std::fs::copy(folder.path().join(&name), copy.path().join(&name)).unwrap();
        }
        copy
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_database_is_set_aside_with_all_of_its_log_and_keeps_its_name_meanwhile() {
        let folder = left_by_a_killed_owner();
        let database = folder.path().join(DATABASE_FILE);
        let aside = set_aside(&database, AT).unwrap().unwrap();
        assert_eq!(names(folder.path()), [DATABASE_FILE, NAME_ASIDE]);
        std::fs::remove_file(&database).unwrap();
        let found: String = Connection::open(aside)
            .unwrap()
            .query_row("SELECT x FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(found, "kept");
    }

    #[test]
    fn a_damaged_database_is_set_aside_with_what_its_log_held() {
        let folder = left_by_a_killed_owner();
        let database = folder.path().join(DATABASE_FILE);
        let mut bytes = std::fs::read(&database).unwrap();
        bytes[..100].fill(0xff);
        std::fs::write(&database, bytes).unwrap();
        let aside = set_aside(&database, AT).unwrap().unwrap();
        assert!(!database.exists());
        let whole = std::fs::read(aside).unwrap();
        assert!(whole.windows(4).any(|window| window == b"kept"));
    }

    #[test]
    fn a_log_without_a_database_does_not_fall_to_the_next_one() {
        let folder = left_by_a_killed_owner();
        let database = folder.path().join(DATABASE_FILE);
        std::fs::remove_file(&database).unwrap();
        assert_eq!(set_aside(&database, AT).unwrap(), None);
        assert!(names(folder.path()).iter().all(|name| name.starts_with(NAME_ASIDE)));
    }

    #[test]
    fn a_database_that_somebody_reads_stays_where_it_is() {
        let folder = left_by_a_killed_owner();
        let database = folder.path().join(DATABASE_FILE);
        let reader = sqlite::open_reader(&database).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t;").unwrap();
        let refused = set_aside(&database, AT).unwrap_err();
        assert!(matches!(refused, StoreError::BeingRead { .. }), "{refused}");
        assert!(!names(folder.path()).contains(&NAME_ASIDE.to_owned()));
    }

    #[test]
    fn none_is_begun_where_one_was_set_aside_and_a_second_name_goes_away() {
        let folder = left_by_a_killed_owner();
        let database = folder.path().join(DATABASE_FILE);
        let elsewhere = folder.path().join("waystation.db.before-restore-elsewhere");
        std::fs::write(&elsewhere, "of somebody else").unwrap();
        let older = folder.path().join("waystation.db.before-restore-6");
        std::fs::write(&older, "older").unwrap();
        set_aside(&database, AT).unwrap();
        check(folder.path()).unwrap();
        let left = [older, elsewhere].map(|path| path.file_name().unwrap().to_owned());
        assert_eq!(names(folder.path())[1..], left.map(|name| name.into_string().unwrap()));

        let aside = set_aside(&database, AT).unwrap().unwrap();
        std::fs::remove_file(&database).unwrap();
        let refused = check(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(aside.to_str().unwrap()), "{refused}");
    }
}
