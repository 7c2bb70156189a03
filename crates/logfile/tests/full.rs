//! A disk that is full for a moment takes nothing of a commit away: what a transaction commits is all there,
//! or the transaction is gone.
#![expect(clippy::unwrap_used, reason = "a test that is surprised fails")]
#![expect(unsafe_code, reason = "it stands between SQLite and the kernel")]

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

const ENOSPC: c_int = 28;
/// The numbers of the kernel's calls.
#[cfg(target_arch = "x86_64")]
const CALLS: (c_long, c_long) = (1, 18);
#[cfg(target_arch = "aarch64")]
const CALLS: (c_long, c_long) = (64, 68);

thread_local! {
    /// Whether logs find no room, for what this thread writes.
    static IS_FULL: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> isize;
    fn __errno_location() -> *mut c_int;
}

fn finds_no_room(file: c_int) -> bool {
    let name = || std::fs::read_link(format!("/proc/self/fd/{file}"));
    IS_FULL.get() && name().is_ok_and(|name| name.to_string_lossy().ends_with("-wal"))
}

/// What SQLite calls in the place of the C library's own.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, bytes: *const c_void, count: usize) -> isize {
    if finds_no_room(file) {
        // SAFETY: each thread has an error number of its own.
        unsafe { *__errno_location() = ENOSPC };
        return -1;
    }
    // SAFETY: the call is passed on as it came.
    unsafe { syscall(CALLS.0, c_long::from(file), bytes, count) }
}

/// The same, at a place in the file.
#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(file: c_int, bytes: *const c_void, count: usize, at: i64) -> isize {
    if finds_no_room(file) {
        // SAFETY: each thread has an error number of its own.
        unsafe { *__errno_location() = ENOSPC };
        return -1;
    }
    // SAFETY: the call is passed on as it came.
    unsafe { syscall(CALLS.1, c_long::from(file), bytes, count, at) }
}

/// A database whose transactions outgrow its cache at once.
fn writer(path: &Path) -> Connection {
    let layer = waystation_logfile::layer().unwrap();
    let connection =
        Connection::open_with_flags_and_vfs(path, OpenFlags::default(), layer).unwrap();
    let made = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = 20;
        PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT NOT NULL, turn INTEGER UNIQUE);";
    connection.execute_batch(made).unwrap();
    connection
}

/// What somebody else finds: whether the database is sound, and how many pages it has.
fn found(path: &Path) -> (String, i64) {
    let other = Connection::open(path).unwrap();
    let said = other.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    let count = other.query_row("SELECT count(*) FROM page", [], |row| row.get(0));
    (said.unwrap_or_else(|error| error.to_string()), count.unwrap_or(-1))
}

#[test]
fn a_disk_that_is_full_for_a_moment_leaves_no_hole_in_what_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.db");
    let connection = writer(&path);
    let (mut committed, mut undone) = (0, 0);
    // What waits at the moment differs from turn to turn.
    for turn in 0..40 {
        connection.execute_batch("DELETE FROM page; BEGIN IMMEDIATE; SAVEPOINT job").unwrap();
        let pages = 300 + turn;
        for number in 0..pages {
            let page = (number, "x".repeat(3_000), number);
            connection.execute("INSERT INTO page VALUES (?1, ?2, ?3)", page).unwrap();
        }
        connection.execute_batch("RELEASE job; SAVEPOINT job").unwrap();
        IS_FULL.set(true);
        let several = "UPDATE page SET turn = -turn - 1 WHERE number BETWEEN 5 AND 100";
        let changed = connection.execute(several, []);
        IS_FULL.set(false);
        if connection.is_autocommit() {
            undone += 1;
            assert_eq!(found(&path), ("ok".to_owned(), 0), "turn {turn}");
            continue;
        }
        if changed.is_err() {
            connection.execute_batch("ROLLBACK TO job").unwrap();
        }
        connection.execute_batch("RELEASE job").unwrap();
        if connection.execute_batch("COMMIT").is_ok() {
            committed += 1;
        } else {
            undone += 1;
            connection.execute_batch("ROLLBACK").ok();
        }
        let (said, count) = found(&path);
        assert_eq!(said, "ok", "turn {turn}");
        assert!(count == pages || count == 0, "{count} of {pages} pages in turn {turn}");
    }
    assert_eq!(committed + undone, 40);
    assert!(undone > 0, "the disk was never full when it mattered");
    // And the log goes on where the last sound transaction ended.
    connection.execute_batch("DELETE FROM page; INSERT INTO page VALUES (1, 'y', 1)").unwrap();
    assert_eq!(found(&path), ("ok".to_owned(), 1));
}
