//! Full-text search over messages, in a file of its own that can always be built again from the log.
//!
//! Tried at a million messages: one FTS5 table (a beginning such as `ba*` merges the whole index:
//! 0.6 s; a phrase that never occurs: 0.4 s), so the log is cut into volumes. Joining each hit to
//! its thread: 0.25 µs a hit, cheap enough to walk. Naming 50 threads in the expression: 1 ms, but
//! 1,000: 20 to 80 ms, so callers who see many threads are walked, or named once few are present.
//! The rest is in `docs/decisions/search-index.md`; `examples/search_scale.rs` measures it.
mod excerpt;
mod expression;
mod find;
mod handle;
mod indexer;
mod queue;
mod request;
mod schema;
mod sight;
mod words;

pub use excerpt::highlight;
pub use handle::SearchIndex;
pub use request::{SearchDoc, SearchHit, SearchPage, SearchQuery, SearchScope};
