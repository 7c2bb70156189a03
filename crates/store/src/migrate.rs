//! Forward-only migrations. Each runs in one transaction together with the mark that it ran, so one
//! that is killed half-way has not happened.

use rusqlite::Connection;

use crate::driver::postgres::PgConnection;
use crate::engine;
use crate::error::{Result, StoreError};
use crate::tx::{self, Tx};

/// Every migration, in order; never edited once released.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_threads.sql"),
    include_str!("../migrations/0002_trust.sql"),
    include_str!("../migrations/0003_chats.sql"),
    include_str!("../migrations/0004_links.sql"),
    include_str!("../migrations/0005_wakes.sql"),
    include_str!("../migrations/0006_relay.sql"),
    include_str!("../migrations/0007_outbox.sql"),
    include_str!("../migrations/0008_memory.sql"),
    include_str!("../migrations/0009_retention.sql"),
    include_str!("../migrations/0010_session_layers.sql"),
    include_str!("../migrations/0011_chat_sends.sql"),
    include_str!("../migrations/0012_work_task.sql"),
    include_str!("../migrations/0013_packed_bodies.sql"),
    include_str!("../migrations/0014_plain_predicates.sql"),
    include_str!("../migrations/0015_message_keys.sql"),
    include_str!("../migrations/0016_blocks_and_thread_keys.sql"),
    include_str!("../migrations/0017_revocations.sql"),
    include_str!("../migrations/0018_details_and_tokens.sql"),
    include_str!("../migrations/0019_numbers.sql"),
    include_str!("../migrations/0020_purged_proposals.sql"),
    include_str!("../migrations/0021_purging.sql"),
    include_str!("../migrations/0022_expiry_place.sql"),
];

/// The schema this program writes.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

const CREATE_MARK: &str = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)";

/// Brings a SQLite file to the newest schema.
pub(crate) fn sqlite(connection: &Connection) -> Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(CREATE_MARK)?;
    let found = found(&mut Tx::new(tx::Connection::Sqlite(connection)))?;
    connection.execute_batch("COMMIT")?;
    for (version, sql) in outstanding(found)? {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        connection.execute_batch(&engine::schema_for_sqlite(sql))?;
        mark(&mut Tx::new(tx::Connection::Sqlite(connection)), version)?;
        connection.execute_batch("COMMIT")?;
    }
    say(found);
    Ok(())
}

/// Brings a PostgreSQL database to the newest schema; several hubs may try at once.
pub(crate) fn postgres(connection: &mut PgConnection) -> Result<()> {
    connection.batch("BEGIN; SELECT pg_advisory_xact_lock(7730740)")?;
    connection.batch(CREATE_MARK)?;
    let found = found(&mut Tx::new(tx::Connection::Postgres(connection)))?;
    for (version, sql) in outstanding(found)? {
        connection.batch(&engine::schema_for_postgres(sql))?;
        mark(&mut Tx::new(tx::Connection::Postgres(connection)), version)?;
    }
    connection.batch("COMMIT")?;
    say(found);
    Ok(())
}

/// Tells of a database that was brought forward; that a new one has a schema is no news.
fn say(found: i64) {
    if found > 0 && found < newest() {
        tracing::info!(from = found, to = newest(), "schema brought forward");
    }
}

/// Refuses a database that a newer program has written.
pub(crate) fn check_not_newer(tx: &mut Tx<'_>) -> Result<()> {
    outstanding(found(tx)?).map(drop)
}

/// Refuses a database that a newer program has written, and one that this one has not brought forward.
pub(crate) fn check_current(tx: &mut Tx<'_>) -> Result<()> {
    let found = found(tx)?;
    match outstanding(found)?.next() {
        None => Ok(()),
        Some(_) => Err(StoreError::Older { found, known: newest() }),
    }
}

fn found(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx
        .query_one("SELECT max(version) FROM schema_version", &[], |row| row.opt_int(0))?
        .flatten()
        .unwrap_or(0))
}

fn mark(tx: &mut Tx<'_>, version: i64) -> Result<()> {
    tx.execute("INSERT INTO schema_version (version) VALUES (?1)", &[version.into()])?;
    Ok(())
}

fn outstanding(found: i64) -> Result<impl Iterator<Item = (i64, &'static str)>> {
    if found > newest() {
        return Err(StoreError::Newer { found, known: newest() });
    }
    Ok((1..).zip(MIGRATIONS.iter().copied()).filter(move |(version, _)| *version > found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Settings, Store};

    /// Writes a database as an older program left it, and opens it.
    async fn opened_after(version: usize, older: &str) -> (tempfile::TempDir, Store) {
        let folder = left_after(version, older);
        let settings = Settings::Sqlite { folder: folder.path().to_owned(), readers: 1 };
        let store = tokio::task::spawn_blocking(move || Store::open(&settings).unwrap());
        (folder, store.await.unwrap())
    }

    /// A database as an older program left it.
    fn left_after(version: usize, older: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join(crate::store::DATABASE_FILE)).unwrap();
        connection.execute_batch(CREATE_MARK).unwrap();
        for (version, sql) in (1..).zip(MIGRATIONS.iter().take(version)) {
            connection.execute_batch(&engine::schema_for_sqlite(sql)).unwrap();
            mark(&mut Tx::new(tx::Connection::Sqlite(&connection)), version).unwrap();
        }
        connection.execute_batch(older).unwrap();
        drop(connection);
        folder
    }

    const OLDER_ENTRY: &str =
        "INSERT INTO audit (at_ms, workspace, actor, role, session, jti, request_id, action, object,
             outcome, request, response, salt, detail)
         VALUES (5, 'w', 'ada', 'worker', 's', 'j', x'01', 'post_message', 'o', 'ok', x'02', x'03',
             x'04', 'a detail')";

    /// The hash that a seal of that time covers.
    async fn hash_of_older_entry(store: &Store) -> [u8; 32] {
        let hashes: Result<Vec<_>> =
            store.read(|tx| tx.of_audit_between((0, 9), 9, |entry| entry.hash())).await;
        let rows: Result<Vec<_>> = store.read(|tx| tx.audit_between(0, 9, 9)).await;
        let (hashes, rows) = (hashes.unwrap(), rows.unwrap());
        assert_eq!(rows[0].detail.as_deref(), Some("a detail"));
        assert_eq!(rows[0].detail_commitment, None);
        hashes[0]
    }

    #[tokio::test]
    async fn an_entry_from_before_details_were_committed_to_keeps_its_hash() {
        let (_folder, store) = opened_after(15, OLDER_ENTRY).await;
        let entry = protocol::audit::Entry {
            id: 1,
            at_ms: 5,
            workspace: "w",
            actor: "ada",
            role: "worker",
            session: "s",
            jti: "j",
            request_id: &[1],
            action: "post_message",
            object: "o",
            outcome: "ok",
            request: &[2],
            response: &[3],
            detail: None,
        };
        assert_eq!(hash_of_older_entry(&store).await, entry.hash());
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
        // Whoever only reads finds the same in a database that nobody has brought forward.
        let folder = left_after(15, OLDER_ENTRY);
        let path = folder.path().to_owned();
        let store = tokio::task::spawn_blocking(move || Store::open_read_only(&path).unwrap());
        let store = store.await.unwrap();
        assert_eq!(hash_of_older_entry(&store).await, entry.hash());
        let before: Result<_> = store.read(|tx| tx.has_detail_commitments_before(9)).await;
        assert!(!before.unwrap());
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }

    #[tokio::test]
    async fn keys_from_before_they_were_filed_later_are_found() {
        let older =
            "INSERT INTO message (thread, seq, created_ms, kind, trust, sender, session, body,
                         idem_hash, idem_key, status_after)
                     VALUES (1, 1, 5, 0, 1, 'ada', 's', 'with a key', 77, 'key', 0),
                            (1, 2, 6, 0, 1, 'ada', 's', 'without', NULL, NULL, 0)";
        let (_folder, store) = opened_after(14, older).await;
        let found: Result<_> = store.write(|tx| tx.message_by_key(1, "ada", "key", 77)).await;
        assert_eq!(found.unwrap().map(|message| message.body).as_deref(), Some("with a key"));
        let filed: Result<_> = store.read(|tx| tx.fact("message_keys_filed")).await;
        assert_eq!(filed.unwrap().as_deref(), Some("2"), "the next start need not read them");
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }

    fn texts(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }

    #[test]
    fn a_table_whose_rows_go_never_gives_a_number_twice() {
        let connection = Connection::open_in_memory().unwrap();
        sqlite(&connection).unwrap();
        let others = "SELECT name FROM sqlite_schema WHERE type = 'table'
                        AND sql LIKE '% id INTEGER PRIMARY KEY,%' ORDER BY name";
        // Of these two the newest row stays. It is written anew at every post, or is the newest anyway.
        let newest_stays = ["memory_change", "message"];
        let nothing_goes = ["audit", "audit_seal", "message_change", "wake"];
        let mut right = [newest_stays.as_slice(), nothing_goes.as_slice()].concat();
        right.sort_unstable();
        assert_eq!(texts(&connection, others), right);
        assert_eq!(texts(&connection, "PRAGMA integrity_check"), ["ok"]);
    }

    #[tokio::test]
    async fn what_stands_under_a_number_that_was_given_again_is_nobody_s() {
        // A link of `a` was purged, and `b` was given its number; another one of `a` is gone for good.
        let older = "
            INSERT INTO link (id, workspace, name, service, live, settings, account, version, created_by,
                created_ms) VALUES (1, 'b', 'github', 'github', 1, '{}', '', 1, 'boss', 9);
            INSERT INTO thread (id, uid, workspace, title, type, status, created_by, created_ms,
                updated_ms, head_seq, agent_turns)
                VALUES (1, x'01', 'a', 't', 0, 0, 'x', 5, 5, 0, 0),
                       (2, x'02', 'b', 't', 0, 0, 'x', 9, 9, 0, 0);
            INSERT INTO relay_thread (thread, link, key, channel, address)
                VALUES (1, 1, 'github:1', 'github', '{}'), (2, 1, 'github:2', 'github', '{}');
            INSERT INTO posted (link, remote_id, outbox, at_ms, thread)
                VALUES (1, 'c1', 4, 5, 1), (1, 'c2', 5, 4000000, 2), (1, 'c3', 5, 7, NULL),
                       (6, 'c4', 8, 7, NULL);
            INSERT INTO outbox (id, uid, workspace, link, destination, head, action, action_hash, agent,
                thread, state, parts_done, attempts, due_ms, sending, looks, created_ms)
                VALUES (4, x'01', 'a', 1, 'd', 1, '{}', x'00', 'x', 2, 3, 0, 0, 0, 0, 0, 5),
                       (5, x'02', 'b', 1, 'd', 1, '{}', x'00', 'x', 2, 2, 0, 0, 0, 0, 0, 3900000);
            INSERT INTO proposal (id, uid, workspace, thread, task, agent, state, version, action,
                action_hash, why, created_ms, expires_ms, reminders)
                VALUES (1, x'01', 'a', 2, x'00', 'x', 0, 1, '{}', x'00', '', 5, 6, 0),
                       (2, x'02', 'a', 1, x'00', 'x', 0, 1, '{}', x'00', '', 5, 6, 0),
                       (7, x'03', 'a', 9, x'00', 'x', 0, 1, '{}', x'00', '', 5, 6, 0);
            INSERT INTO proposal_step (proposal, version, kind, actor, at_ms)
                VALUES (1, 1, 0, 'x', 5), (2, 1, 0, 'x', 5), (7, 1, 0, 'x', 5);";
        let (folder, store) = opened_after(18, older).await;
        let read = Connection::open(folder.path().join(crate::store::DATABASE_FILE)).unwrap();
        let posted =
            "SELECT remote_id || ' ' || link || ' ' || outbox FROM posted ORDER BY remote_id";
        assert_eq!(texts(&read, posted), ["c1 -1 4", "c2 1 5", "c3 1 -5", "c4 6 8"]);
        let relay = "SELECT thread || ' ' || link FROM relay_thread ORDER BY thread";
        assert_eq!(texts(&read, relay), ["1 -1", "2 1"]);
        let outbox = "SELECT id || ' ' || link || ' ' || thread FROM outbox ORDER BY id";
        assert_eq!(texts(&read, outbox), ["4 -1 -2", "5 1 2"]);
        let steps = "SELECT p.id || ' ' || s.proposal FROM proposal p, proposal_step s";
        assert_eq!(texts(&read, steps), ["2 2"]);
        let given = "SELECT name || ' ' || seq FROM sqlite_sequence
                     WHERE name IN ('link', 'thread', 'outbox', 'proposal', 'memory') ORDER BY name";
        let right = ["link 6", "memory 0", "outbox 8", "proposal 7", "thread 9"];
        assert_eq!(texts(&read, given), right);
        assert_eq!(texts(&read, "PRAGMA integrity_check"), ["ok"]);
        drop(read);
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }
}
