//! A human decides: through the hub's own door, against services that do exactly what a test says.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod authority;
mod buttons;
mod citing;
mod clock;
mod deciding;
mod policy;
mod purged;
mod service;
mod world;

/// Runs one story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
