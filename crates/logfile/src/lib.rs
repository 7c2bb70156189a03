//! How SQLite's log reaches its file: what a commit writes goes out in one piece.
//!
//! SQLite writes each page of a commit in two pieces, and a commit of thirty pages asks the kernel sixty
//! times. Here the pieces are put together, and go out when SQLite flushes the log or looks at it.

mod layer;
mod pieces;

pub use layer::{Unavailable, layer};
