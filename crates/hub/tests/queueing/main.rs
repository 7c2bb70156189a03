//! Work for agents and what leaves for services, through the hub's own door, against a service that does
//! exactly what a test says.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod again;
mod completing;
mod letters;
mod parts;
mod pulling;
mod retention;
mod sending;
mod service;
mod shared;
mod trouble;
mod world;

/// Each test on both engines.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
