//! Threads: what happens in them, and what it amounts to.

pub mod summary;
