//! The hub's promises, through its one door, on both engines.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]
mod search;
mod threads_spec;

/// Runs one story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
