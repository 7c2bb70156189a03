//! Every line of SQL of Waystation: transactions, group commit and tables on SQLite and PostgreSQL.
//!
//! A transaction is a plain function over [`Tx`]. It cannot await and has no outside effect, so it may
//! be run again, and many of them share one commit. Absence is `Option` here; rules are the hub's.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod at_hand;
mod audit;
mod backup;
mod chat_messages;
mod chat_sends;
mod chats;
mod checkpoint;
pub mod containment;
mod cursors;
mod deliveries;
mod documents;
mod driver;
mod engine;
mod error;
mod facts;
mod folds;
mod gaps;
mod job;
mod known_threads;
mod leases;
mod links;
mod memories;
pub mod memory_index;
mod message_keys;
mod messages;
mod migrate;
mod outbox;
mod people;
mod pool;
mod profiles;
mod proposals;
mod purge;
mod queue;
mod reconcile;
mod relay_threads;
mod remembered;
mod retention;
pub mod search;
mod session_layers;
mod sessions;
mod store;
mod thread_keys;
mod threads;
mod tokens;
mod tool_calls;
mod turns;
mod tx;
mod value;
mod versions;
mod view_file;
mod wake_policies;
mod wakes;
mod work;
mod work_queue;
mod writer;

pub use audit::{AuditEntry, AuditRow, SealHead, SealRow};
pub use backup::{
    BackupReport, BackupStep, CarriedRevocations, Compared, PutInPlace, Staged, Watch, backup,
    is_backup, own_files, verify_backup,
};
pub use chat_messages::{
    CHAT_MESSAGES_AT_ONCE, ChangeKind, ChangeRow, ChatMessageRow, ChatSpan, NewChange,
    NewChatMessage,
};
pub use chat_sends::ChatSendRow;
pub use chats::{ChatRow, HeldRow, NewChat};
pub use containment::{
    ContainmentDoc, ContainmentFilter, ContainmentHit, ContainmentIndex, ContainmentPage,
    ContainmentQuery, ContainmentScope, ContainmentShape, IndexProgress, Place, RankedHit,
    RankedPage, RankedQuery, RemovedDoc,
};
pub use cursors::CursorRow;
pub use deliveries::{DeliveryFilter, DeliveryRow, NewDelivery, PackedDelivery, RawDelivery};
pub use documents::{DocumentListed, DocumentRow, NewDocument, NewPiece, PieceRow};
pub use engine::Engine;
pub use error::{Result, StoreError};
pub use folds::FoldRow;
pub use gaps::GapRow;
pub use leases::LeaseRow;
pub use links::{LinkRow, LinkTotals, NewLink};
pub use memories::{MemoryChange, MemoryItem, MemoryRow, NewMemory};
pub use memory_index::{
    Area, AreaKind, Candidate, MemoryDoc, MemoryIndex, RecallQuery, RecallWords, Vector,
};
pub use messages::{MessageRow, NewMessage, ReplyTo};
pub use outbox::{Decision, NewOutboxRow, OutboxFilter, OutboxRow};
pub use people::PersonRow;
pub use profiles::ProfileRow;
pub use proposals::{ProposalFilter, ProposalRow, ProposalStepRow};
pub use reconcile::ReconcileRow;
pub use relay_threads::RelayThreadRow;
pub use retention::{Cutoffs, Kept, Portion};
pub use search::{
    SearchDoc, SearchHit, SearchIndex, SearchPage, SearchQuery, SearchScope, highlight,
};
pub use session_layers::SessionLayerRow;
pub use sessions::{SessionFilter, SessionKey, SessionPlace, SessionPortion, SessionRow};
pub use store::{Settings, Store};
pub use thread_keys::{KeyedThread, ThreadKey};
pub use threads::{NewThread, ThreadAccess, ThreadFilter, ThreadListed, ThreadRow};
pub use tokens::{TokenFilter, TokenRow};
pub use tool_calls::ToolCallRow;
pub use tx::Tx;
pub use wake_policies::WakePolicyRow;
pub use wakes::{WakeFilter, WakeRow};
pub use work_queue::{NewWork, QueueDepth, WorkFilter, WorkRow};
