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
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join(crate::store::DATABASE_FILE)).unwrap();
        connection.execute_batch(CREATE_MARK).unwrap();
        for (version, sql) in (1..).zip(MIGRATIONS.iter().take(version)) {
            connection.execute_batch(&engine::schema_for_sqlite(sql)).unwrap();
            mark(&mut Tx::new(tx::Connection::Sqlite(&connection)), version).unwrap();
        }
        connection.execute_batch(older).unwrap();
        drop(connection);
        let settings = Settings::Sqlite { folder: folder.path().to_owned(), readers: 1 };
        let store = tokio::task::spawn_blocking(move || Store::open(&settings).unwrap());
        (folder, store.await.unwrap())
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
}
