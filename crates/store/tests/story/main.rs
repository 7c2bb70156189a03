//! What the store promises about queues, told on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is surprised fails"
)]

mod outbox;
mod place;
mod proposals;
mod racing;
mod work_queue;
