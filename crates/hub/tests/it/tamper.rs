//! What happens in the database of a hub without it.

use std::sync::mpsc;

use postgres::{Client, NoTls};
use tokio::sync::oneshot;

fn connect(url: &str) -> Client {
    Client::connect(url, NoTls).unwrap()
}

/// Puts back what the log was when each thread had one message.
pub(crate) fn put_older_log_back(url: &str) {
    let older = "BEGIN; DELETE FROM message WHERE seq > 1; UPDATE thread SET head_seq = 1;
         SELECT setval(pg_get_serial_sequence('message', 'id'), max(id)) FROM message; COMMIT";
    connect(url).batch_execute(older).unwrap();
}

/// Writes one more message into a thread, and commits it when it is told to.
pub(crate) fn write_late(
    url: &str,
    title: &str,
    written: oneshot::Sender<()>,
    commit: &mpsc::Receiver<()>,
) {
    let mut client = connect(url);
    let mut late = client.transaction().unwrap();
    let again = "INSERT INTO message (thread, seq, created_ms, kind, trust, sender, session, body,
             status_after)
         SELECT thread, seq + 1, m.created_ms, kind, trust, sender, session, 'late', status_after
         FROM message m JOIN thread t ON t.id = m.thread WHERE t.title = $1";
    assert_eq!(late.execute(again, &[&title]).unwrap(), 1);
    let head = "UPDATE thread SET head_seq = head_seq + 1 WHERE title = $1";
    assert_eq!(late.execute(head, &[&title]).unwrap(), 1);
    written.send(()).unwrap();
    commit.recv().unwrap();
    late.commit().unwrap();
}

/// Locks every thread, until the transaction ends.
pub(crate) fn hold_threads(url: &str) -> Client {
    let mut client = connect(url);
    client.batch_execute("BEGIN; SELECT id FROM thread FOR UPDATE").unwrap();
    client
}

/// Waits until so many wait for a lock in a statement that a pattern fits.
pub(crate) fn until_waiting(client: &mut Client, pattern: &str, count: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ $1";
    while client.query_one(waiting, &[&pattern]).unwrap().get::<_, i64>(0) < count {
        // Within a transaction this would stay as it was first seen.
        client.batch_execute("SELECT pg_stat_clear_snapshot()").unwrap();
    }
}
