//! What agents remember and what documents say: kept without personal data, found by words and by
//! likeness, aged by when it was last of use.

pub mod documents;
pub mod embed;
mod forget;
mod index;
mod known;
mod means;
pub(crate) mod recall;
mod remember;
pub mod score;
mod shown;
mod texts;
mod update;

pub use forget::Forget;
pub use means::Memory;
pub use recall::Recall;
pub use remember::Remember;
pub use shown::MemoryView;
pub use update::{Remembered, apply_update, clean};

pub(crate) use index::run as run_index;
pub(crate) use means::run as run_keeping;

/// The set of tools that these operations belong to.
pub(crate) const TOOLSET: &str = "relay";
