//! What services say, on its way in: once, in its thread, as work, and nothing of it obeyed.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod deliveries;
mod envelopes;
mod missed;
mod once;
mod remembering;
mod service;
mod taking;
mod world;

/// Each test on both engines.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Sqlite).await })* }
        mod postgres { $(#[tokio::test] async fn $name() { super::$name(testkit::On::Postgres).await })* }
    };
}
pub(crate) use on_both;
