//! The session layer between turns: in the store, in Redis, and in a model's words; through the hub's own
//! door, with a real Redis server.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod in_redis;
mod keeper;
mod outages;
mod world;
mod written;
