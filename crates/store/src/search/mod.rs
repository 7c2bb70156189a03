//! Full-text search over messages, in a file of its own that can always be built again from the log.
//!
//! Tried on 200,000 messages in one FTS5 table: a beginning such as `ba*` took 125 ms and a phrase
//! that hardly occurs 74 ms, both growing with the index, so the log is cut into volumes. Looking up
//! the thread of each hit costs 0.25 µs, cheap enough to walk. Naming 50 threads in the expression
//! takes 1 ms, but 1,000 take 20 to 80, so callers who see many are walked until few are present.
//! More stands in `docs/decisions/search-index.md`; `examples/search_scale.rs` measures it.
mod excerpt;
mod expression;
mod find;
mod handle;
mod indexer;
mod request;
mod schema;
mod sight;
pub(crate) mod words;

pub use excerpt::highlight;
pub use handle::SearchIndex;
pub use request::{SearchDoc, SearchHit, SearchPage, SearchQuery, SearchScope};
