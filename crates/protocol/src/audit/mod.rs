//! The arithmetic of the audit trail: hashes, proofs, seals and checkpoints, without I/O or keys.
//!
//! Everything here can be repeated in another language from `docs/guides/audit.md`; who signs and who
//! verifies is handed in as a function.

mod bytes;
mod checkpoint;
mod entry;
mod merkle;
mod seal;

pub use bytes::{from_hex, to_hex};
pub use checkpoint::{Checkpoint, NoteError, ORIGIN_CHARS_MAX};
pub use entry::Entry;
pub use merkle::{Hash, includes, leaf_hash, prove, root};
pub use seal::{FIRST_PREVIOUS, Seal, hashes_of, key_id};
