//! The hub's promises, through its one door, on both engines.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod bad_input;
mod catalogue_walk;
mod listing;
mod loop_guard;
mod memory;
mod memory_documents;
mod memory_redaction;
mod model;
mod other_hubs;
mod participants;
mod places;
mod posting;
mod quiet;
mod reading;
mod restart;
mod revoking;
mod schema_walk;
mod search;
mod sessions;
mod status;
mod summary;
mod tamper;
mod threads_spec;
mod tokens;
mod waiting;
mod wake_policy;
mod wakes;
mod wakes_asked;
mod wakes_waiting;
mod world;

/// Runs one story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
