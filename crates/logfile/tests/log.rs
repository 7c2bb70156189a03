//! What a database promises holds through the layer, and a commit is one write.
#![expect(clippy::unwrap_used, reason = "a test that is surprised fails")]

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Opens the database as the hub's writer does.
fn writer(path: &Path) -> Connection {
    let layer = waystation_logfile::layer().unwrap();
    let connection =
        Connection::open_with_flags_and_vfs(path, OpenFlags::default(), layer).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE IF NOT EXISTS page (number INTEGER PRIMARY KEY, text TEXT NOT NULL);",
        )
        .unwrap();
    connection
}

/// Rows that fill a page each.
fn fill(connection: &Connection, numbers: std::ops::Range<i64>, word: &str) {
    let mut insert =
        connection.prepare_cached("INSERT OR REPLACE INTO page VALUES (?1, ?2)").unwrap();
    for number in numbers {
        insert.execute((number, word.repeat(1_000))).unwrap();
    }
}

fn count(connection: &Connection, word: &str) -> i64 {
    let sql = "SELECT count(*) FROM page WHERE text = ?1";
    connection.query_row(sql, [word.repeat(1_000)], |row| row.get(0)).unwrap()
}

fn is_whole(connection: &Connection) -> bool {
    let said: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    said == "ok"
}

/// How often this thread asked the kernel to write.
fn writes() -> u64 {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    let count = io.lines().find_map(|line| line.strip_prefix("syscw: ")).unwrap();
    count.parse().unwrap()
}

#[test]
fn what_a_commit_writes_goes_out_in_pieces_as_large_as_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let database = writer(&folder.path().join("it.db"));
    let plain = Connection::open(folder.path().join("plain.db")).unwrap();
    plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
    plain.execute_batch("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)").unwrap();
    let cost = |connection: &Connection| {
        // What begins a log is no part of it.
        fill(connection, 0..1, "first");
        let before = writes();
        connection.execute_batch("BEGIN").unwrap();
        fill(connection, 1..101, "second");
        connection.execute_batch("COMMIT").unwrap();
        writes() - before
    };
    assert!(cost(&plain) > 200, "SQLite writes in large pieces itself by now");
    let ours = cost(&database);
    assert!(ours <= 5, "{ours} writes");
}

#[test]
fn others_see_a_commit_whole_and_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.db");
    let database = writer(&path);
    let other = Connection::open(&path).unwrap();
    for (turn, word) in ["red", "green", "blue"].into_iter().enumerate() {
        database.execute_batch("BEGIN").unwrap();
        fill(&database, 0..200, word);
        assert_eq!(count(&other, word), 0);
        database.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&other, word), 200);
        if turn == 1 {
            // The log begins anew, at its first byte.
            other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        }
    }
    assert!(is_whole(&other));
}

#[test]
fn a_transaction_larger_than_memory_reads_its_own_pages_and_can_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.db");
    let database = writer(&path);
    let other = Connection::open(&path).unwrap();
    database.execute_batch("PRAGMA cache_size = 10; BEGIN").unwrap();
    fill(&database, 0..300, "kept");
    assert_eq!(count(&database, "kept"), 300);
    database.execute_batch("SAVEPOINT here").unwrap();
    fill(&database, 100..500, "dropped");
    assert_eq!(count(&database, "dropped"), 400);
    database.execute_batch("ROLLBACK TO here; RELEASE here").unwrap();
    fill(&database, 290..310, "last");
    assert_eq!(count(&other, "kept"), 0);
    database.execute_batch("COMMIT").unwrap();
    assert_eq!((count(&other, "kept"), count(&other, "last")), (290, 20));
    assert_eq!(count(&other, "dropped"), 0);
    assert!(is_whole(&other));

    database.execute_batch("BEGIN").unwrap();
    fill(&database, 0..500, "dropped");
    database.execute_batch("ROLLBACK").unwrap();
    fill(&database, 500..501, "after");
    assert_eq!((count(&other, "kept"), count(&other, "after")), (290, 1));
    assert!(is_whole(&other));
}

#[test]
fn a_copy_of_what_is_on_the_disk_after_a_commit_has_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.db");
    let database = writer(&path);
    fill(&database, 0..10, "old");
    database.execute_batch("BEGIN").unwrap();
    fill(&database, 10..80, "new");
    database.execute_batch("COMMIT; BEGIN").unwrap();
    fill(&database, 80..90, "unsaid");
    // As after a kill: without the memory that the connections share.
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    fs::copy(folder.path().join("it.db-wal"), folder.path().join("copy.db-wal")).unwrap();
    let copied = writer(&copy);
    assert_eq!((count(&copied, "old"), count(&copied, "new")), (10, 70));
    assert_eq!(count(&copied, "unsaid"), 0);
    assert!(is_whole(&copied));
}

#[test]
fn a_closed_database_leaves_no_log_and_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.db");
    for turn in 0..3 {
        let database = writer(&path);
        fill(&database, turn * 10..turn * 10 + 10, "word");
        database.close().unwrap();
        assert!(!folder.path().join("it.db-wal").exists());
    }
    assert_eq!(count(&writer(&path), "word"), 30);
}

#[test]
fn a_database_that_cannot_be_opened_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let layer = waystation_logfile::layer().unwrap();
    let none = folder.path().join("none").join("it.db");
    let opened = Connection::open_with_flags_and_vfs(&none, OpenFlags::default(), layer);
    assert!(opened.is_err());
    // A log that cannot be: a folder stands in its place.
    let path = folder.path().join("it.db");
    drop(writer(&path));
    fs::create_dir(folder.path().join("it.db-wal")).unwrap();
    let opened = Connection::open_with_flags_and_vfs(&path, OpenFlags::default(), layer).unwrap();
    assert!(opened.query_row("SELECT count(*) FROM page", [], |_| Ok(())).is_err());
}
