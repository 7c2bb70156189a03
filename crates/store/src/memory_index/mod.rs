//! A view of what is remembered and of documents, in a file of its own: words by BM25, and vectors that
//! are walked in memory. It may be deleted at any time and is built again from the trail of changes.

mod find;
mod frequencies;
mod handle;
mod indexer;
mod request;
mod schema;
mod vectors;

pub use handle::MemoryIndex;
pub use request::{Area, AreaKind, Candidate, MemoryDoc, RecallQuery, RecallWords, Vector};
