//! Putting a backup back: it is copied into the data folder, checked there, and only then put in place.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use protocol::Timestamp;
use rusqlite::Connection;

use super::aside::set_aside;
use super::digest::Digests;
use super::files::{Partial, RESTORE_FILE, file_error, make_durable};
use super::verify::{BackupReport, check_nothing_beside, verify_backup};
use super::watch::{BackupStep, Watch};
use crate::driver::sqlite;
use crate::error::Result;
use crate::migrate;
use crate::store::DATABASE_FILE;
use crate::tokens::{RevokedById, TokenRow};
use crate::tx::{self, Tx};
use crate::view_file::{self, View};

/// What is copied at once.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Why an action of a backup is given up.
const MAY_HAVE_LEFT: &str = "the hub was restored from a backup in which it was on its way, so it may have \
                             left since: redrive it, which asks the service first, or cancel it";

/// A checked copy of a backup in a data folder that the caller owns. It changes nothing until it is put
/// in place, and is deleted when it never is.
pub struct Staged {
    folder: PathBuf,
    partial: Partial,
    report: BackupReport,
}

/// What came of putting a backup in place.
#[derive(Clone, Debug)]
pub struct PutInPlace {
    /// Where the database was set aside that was there, if there was one.
    pub aside: Option<PathBuf>,
    /// What that knew of revoked tokens.
    pub revocations: CarriedRevocations,
    /// How many actions were on their way to services in the backup, and were given up.
    pub actions_given_up: u64,
}

/// What became of the tokens that were revoked since the backup was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriedRevocations {
    /// There was no database that could know of any.
    Unknown,
    /// So many were taken over from the database that was there.
    Carried(u64),
    /// The database that was there cannot be read.
    Lost,
}

impl Staged {
    /// Copies a backup into a data folder and checks the copy. Blocks.
    pub fn new(backup: &Path, folder: &Path, watch: &Watch<'_>) -> Result<Self> {
        check_nothing_beside(backup)?;
        let partial = Partial::replacing(folder.join(RESTORE_FILE))?;
        copy(backup, partial.path(), watch)?;
        let report = verify_backup(partial.path(), watch)?;
        let report = BackupReport { path: backup.to_owned(), ..report };
        Ok(Self { folder: folder.to_owned(), partial, report })
    }

    /// Where the copy is.
    pub fn file(&self) -> &Path {
        self.partial.path()
    }

    /// What it holds.
    pub fn report(&self) -> &BackupReport {
        &self.report
    }

    /// Puts it in place; what was there is set aside. Tokens that were revoked there stay revoked, and
    /// nothing that may have left since leaves again by itself.
    /// Nobody else may have the copy open. Blocks.
    pub fn put_in_place(self, now: Timestamp) -> Result<PutInPlace> {
        let target = self.folder.join(DATABASE_FILE);
        let (revocations, actions_given_up) = prepare(self.partial.path(), &target, now)?;
        make_durable(self.partial.path())?;
        let aside = set_aside(&target, now)?;
        for view in View::ALL {
            view_file::remove(&view.file(&self.folder))?;
        }
        self.partial.rename(&target)?;
        Ok(PutInPlace { aside, revocations, actions_given_up })
    }
}

fn copy(from: &Path, to: &Path, watch: &Watch<'_>) -> Result<()> {
    let mut source = File::open(from).map_err(file_error("read", from))?;
    let total = source.metadata().map_err(file_error("read", from))?.len();
    let mut target = File::create(to).map_err(file_error("write", to))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut done = 0_u64;
    loop {
        let count = source.read(&mut chunk).map_err(file_error("read", from))?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        target.write_all(bytes).map_err(file_error("write", to))?;
        done += bytes.len() as u64;
        watch.at(BackupStep::Copying, done, total)?;
    }
}

/// Makes a database of a copy: at the newest schema, without digests, with what was revoked since, and
/// with nothing on its way that may have left since.
fn prepare(copy: &Path, old: &Path, now: Timestamp) -> Result<(CarriedRevocations, u64)> {
    let connection = Connection::open(copy)?;
    migrate::sqlite(&connection)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Digests::forget(&connection)?;
    let revocations = carry(old, &connection, now)?;
    let mut tx = Tx::new(tx::Connection::Sqlite(&connection));
    let actions_given_up = tx.give_up_outbox(MAY_HAVE_LEFT, now)?;
    connection.execute_batch("COMMIT")?;
    Ok((revocations, actions_given_up))
}

fn carry(old: &Path, copy: &Connection, now: Timestamp) -> Result<CarriedRevocations> {
    if !old.exists() {
        return Ok(CarriedRevocations::Unknown);
    }
    let revoked = match revoked(old, now) {
        Ok(revoked) => revoked,
        Err(error) => {
            tracing::debug!(%error, "the database that was there cannot be read");
            return Ok(CarriedRevocations::Lost);
        }
    };
    let mut tx = Tx::new(tx::Connection::Sqlite(copy));
    let mut carried = 0;
    for token in &revoked.issued {
        carried += tx.take_revocation(token)?;
    }
    for other in &revoked.others {
        carried += tx.revoke_by_id(&other.workspace, &other.jti, other.at)?;
    }
    Ok(CarriedRevocations::Carried(carried))
}

/// What a database knows to be revoked.
struct Revoked {
    issued: Vec<TokenRow>,
    others: Vec<RevokedById>,
}

fn revoked(database: &Path, now: Timestamp) -> Result<Revoked> {
    let connection = sqlite::open_reader(database)?;
    let mut tx = Tx::new(tx::Connection::Sqlite(&connection));
    // A database from before tokens of others could be revoked has no table of them.
    let knows_others = connection.table_exists(None, "revocation")?;
    Ok(Revoked {
        issued: tx.revoked_token_rows(now)?,
        others: if knows_others { tx.all_revoked_by_id()? } else { Vec::new() },
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Compared, backup, is_backup};
    use super::*;
    use crate::error::StoreError;
    use crate::store::{Settings, Store};

    /// A folder with a database, and a backup of it beside.
    fn backed_up() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let settings = Settings::Sqlite { folder: folder.clone(), readers: 1 };
        Store::open(&settings).unwrap().close();
        let file = home.path().join("hub.backup");
        backup(&folder.join(DATABASE_FILE), &file, &Watch::nobody()).unwrap();
        (home, folder, file)
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn digests_are_of_the_rows_and_not_of_their_pages() {
        let (_home, _, file) = backed_up();
        Connection::open(&file).unwrap().execute_batch("VACUUM").unwrap();
        let report = verify_backup(&file, &Watch::nobody()).unwrap();
        assert_eq!(report.compared, Compared::Content);
    }

    #[test]
    fn every_way_to_change_a_table_is_found() {
        let (_home, _, file) = backed_up();
        let whole = std::fs::read(&file).unwrap();
        for (change, told) in [
            ("INSERT INTO hub_fact VALUES ('a', 'b')", "the table hub_fact holds"),
            ("DELETE FROM schema_version WHERE version = 1", "the table schema_version holds"),
            ("UPDATE schema_version SET version = 0 WHERE version = 1", "the table schema_version"),
            ("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'link'", "the table sqlite_sequence"),
            ("DROP TABLE posted", "the table posted is gone"),
            ("CREATE TABLE more (x TEXT)", "the table more was never backed up"),
            ("DROP INDEX work_listed", "the table sqlite_schema holds"),
            (
                "UPDATE hub_fact SET value = 'x' WHERE name = 'backup_digests'",
                "digests are damaged",
            ),
        ] {
            std::fs::write(&file, &whole).unwrap();
            Connection::open(&file).unwrap().execute_batch(change).unwrap();
            let error = verify_backup(&file, &Watch::nobody()).unwrap_err().to_string();
            assert!(error.contains(told), "{change}: {error}");
        }
    }

    #[test]
    fn a_backup_from_before_digests_is_taken_and_said_to_be_one() {
        let (_home, folder, file) = backed_up();
        Digests::forget(&Connection::open(&file).unwrap()).unwrap();
        let staged = Staged::new(&file, &folder, &Watch::nobody()).unwrap();
        assert_eq!(staged.report().compared, Compared::Structure);
        staged.put_in_place(Timestamp::from_ms(7)).unwrap();
        assert!(names(&folder).contains(&"waystation.db.before-restore-7".to_owned()));
    }

    #[test]
    fn what_was_put_in_place_carries_no_digests_that_would_soon_be_wrong() {
        let (home, folder, file) = backed_up();
        let staged = Staged::new(&file, &folder, &Watch::nobody()).unwrap();
        let put = staged.put_in_place(Timestamp::from_ms(0)).unwrap();
        assert_eq!(put.revocations, CarriedRevocations::Carried(0));
        let database = folder.join(DATABASE_FILE);
        let facts = Digests::said_by(&Connection::open(&database).unwrap()).unwrap();
        assert_eq!(facts, None);
        assert_eq!(names(home.path()), ["data", "hub.backup"]);
    }

    #[test]
    fn tokens_of_others_stay_revoked_and_an_older_database_knows_of_none() {
        let (_home, folder, file) = backed_up();
        let database = folder.join(DATABASE_FILE);
        let now = Timestamp::from_ms(7);
        let revoked = |database: &Path| {
            let connection = Connection::open(database).unwrap();
            Tx::new(tx::Connection::Sqlite(&connection)).revoked_by_id("w", "theirs").unwrap()
        };
        let connection = Connection::open(&database).unwrap();
        Tx::new(tx::Connection::Sqlite(&connection)).revoke_by_id("w", "theirs", now).unwrap();
        drop(connection);
        let restore = |now| {
            let staged = Staged::new(&file, &folder, &Watch::nobody()).unwrap();
            staged.put_in_place(now).unwrap().revocations
        };
        assert_eq!(restore(now), CarriedRevocations::Carried(1));
        assert_eq!(revoked(&database), Some(now));
        Connection::open(&database).unwrap().execute_batch("DROP TABLE revocation").unwrap();
        assert_eq!(restore(now.plus_ms(1)), CarriedRevocations::Carried(0));
        assert_eq!(revoked(&database), None);
    }

    #[test]
    fn what_is_called_off_or_fails_leaves_nothing_behind() {
        let (home, folder, file) = backed_up();
        let before = std::fs::read(&file).unwrap();
        let watch = Watch::nobody();
        watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let off = backup(&folder.join(DATABASE_FILE), &file, &watch).unwrap_err();
        assert!(matches!(off, StoreError::CalledOff), "{off}");
        assert!(Staged::new(&file, &folder, &watch).is_err());
        assert!(backup(&folder.join("missing.db"), &file, &Watch::nobody()).is_err());
        assert_eq!(names(home.path()), ["data", "hub.backup"]);
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert!(!folder.join(RESTORE_FILE).exists());
    }

    #[test]
    fn a_half_made_backup_has_a_name_of_its_own() {
        let (home, folder, file) = backed_up();
        let others = ["hub.partial", "hub.backup.1.partial", "hub.backup.partial"];
        for name in others {
            std::fs::write(home.path().join(name), name).unwrap();
        }
        let [first, second] = [0, 1].map(|_| Partial::beside(&file).unwrap());
        assert_ne!(first.path(), second.path());
        backup(&folder.join(DATABASE_FILE), &file, &Watch::nobody()).unwrap();
        drop((first, second));
        for name in others {
            assert_eq!(std::fs::read_to_string(home.path().join(name)).unwrap(), name);
        }
        assert_eq!(names(home.path()).len(), others.len() + 2);
    }

    #[test]
    fn a_backup_is_told_from_a_database_and_from_anything_else() {
        let (home, folder, file) = backed_up();
        assert!(is_backup(&file));
        assert!(!is_backup(&folder.join(DATABASE_FILE)));
        let other = home.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x TEXT)").unwrap();
        assert!(!is_backup(&other));
        std::fs::write(&other, "a letter to a friend").unwrap();
        assert!(!is_backup(&other));
    }
}
