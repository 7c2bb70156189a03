//! Finding messages by what they contain, in any script, newest first by the time they were sent.
//!
//! The folded texts stand in blocks of one chat each. Full blocks are sealed in segments whose
//! signatures, bit sets of hashed runs of one to four characters, are stored bit by bit: a search
//! reads the few bits it needs, and scans the blocks that have all of them. Like the word index it
//! is a file of its own that can always be built again from the log.
//! More stands in `docs/decisions/containment-index.md`; `examples/containment_scale.rs` measures it.
mod block;
mod collect;
mod directory;
mod filter;
mod find;
mod handle;
mod indexer;
mod narrow;
mod needle;
mod rank;
mod request;
mod scan;
mod schema;
mod seal;
mod shape;
mod signature;
mod slots;
mod takeout;
mod walk;
mod young;

pub use handle::ContainmentIndex;
pub use request::{
    ContainmentDoc, ContainmentFilter, ContainmentHit, ContainmentPage, ContainmentQuery,
    ContainmentScope, IndexProgress, Place, RankedHit, RankedPage, RankedQuery, RemovedDoc,
};
pub use shape::ContainmentShape;
