//! What the store promises about deliveries and queues, told on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod busy;
mod deliveries;
mod keys;
mod memories;
mod numbers;
mod outbox;
mod place;
mod proposals;
mod purging;
mod racing;
mod retention;
mod sessions;
mod threads;
mod tool_calls;
mod work_queue;
