//! Work for agents and what leaves for services, through the hub's own door, against a service that does
//! exactly what a test says.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod completing;
mod letters;
mod parts;
mod pulling;
mod sending;
mod service;
mod shared;
mod trouble;
mod world;
