//! Tools that agents call, and what an agent is given for a turn, through the hub's own doors.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod answers;
mod context;
mod crashes;
mod failures;
mod nesting;
mod rights;
mod service;
mod stopping;
mod world;

/// Runs one story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
