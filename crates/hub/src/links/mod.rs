//! Links: accounts at services that somebody connected, and how each of them is doing.
mod state;

pub use state::{LinkState, LinkStatus, Links};
