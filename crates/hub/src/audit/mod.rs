//! The audit trail: sealed as it grows, verified by anyone, exported as text.
mod checkpoint;
mod commitment;
mod detail;
mod error;
mod export;
mod keys;
mod object;
mod page;
mod prove;
mod queue;
mod record;
mod sealer;
mod verify;

pub use checkpoint::{checkpoint, open_checkpoint};
pub use commitment::Commitment;
pub use error::AuditError;
pub use export::{Exported, export};
pub use keys::{SealKey, TrustedKeys};
pub use object::Object;
pub use page::page;
pub use prove::{Proof, prove};
pub use queue::Delay;
pub use record::{EntryRecord, SealRecord};
pub use sealer::Sealer;
pub use verify::{Problem, Progress, Report, Verification, verify};

pub(crate) use detail::with_trace;
pub(crate) use object::Asked;
pub(crate) use queue::{EntryQueue, OwnedEntry, WaitingEntries};
