//! Chats through the one door: taking facts in, reading, searching, and who may see what.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod archive;
mod coverage;
mod imports;
mod people;
mod reading;
mod scope;
mod searching;
mod waiting;
mod world;

/// Runs one story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
