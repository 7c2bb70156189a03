//! Signal, through a signal-cli daemon that the owner runs beside the hub.
//!
//! The daemon is a linked device: it hears what is said from the moment it is linked, also what the
//! owner says from a telephone. It has no history, so this archive begins when it was linked.

mod address;
mod connector;
mod content;
mod endpoint;
mod envelope;
mod follow;
mod kind;
mod lines;
mod revisions;
mod rpc;
mod sse;
#[cfg(test)]
mod tests;

pub use kind::Signal;
