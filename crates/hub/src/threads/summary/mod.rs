//! What a thread amounts to, without a language model: typed events are folded, chat is quoted.
//!
//! [`Fold`] is the state after some message. It grows by one [`Entry`] at a time, its size has a
//! stated limit however long the thread is, and it is kept as JSON beside the thread.
//! [`Fold::summary`] and [`Fold::dispute`] only read it. Nothing here asks for the time or does I/O.

mod commits;
mod credit;
mod digest;
mod entry;
mod event;
mod facts;
mod finding;
mod fold;
mod highlights;
mod link;
mod prose;
mod report;
mod sentence;
mod tally;
mod text;
mod trail;
mod unlinked;
mod voice;

#[cfg(test)]
mod tests;

pub use entry::Entry;
pub use fold::Fold;
pub use highlights::{Highlight, HighlightKind};
pub use report::{ItemState, Omitted, OpenItem, Summary};

pub(crate) use text::one_line;
