//! Links through the hub's own door, against a service that does exactly what a test says.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod expiry;
mod hooks;
mod operations;
mod past;
mod purging;
mod secrets;
mod sending;
mod service;
mod shared;
mod streaming;
mod taking;
mod world;
