//! The contract between the hub and its connectors.
//!
//! A connector translates between a service and the hub: it reports facts, sends what it is handed,
//! and stores nothing. The toolkit holds what every connector needs and none should write twice.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod chat;
mod connector;
mod error;
mod hook;
mod import;
mod inbound;
mod link;
pub mod model;
mod outbound;
pub mod session;
pub mod toolkit;

pub use chat::{ChatPlace, chat_outbound, chat_parts, chat_receipt, quiet, sent_facts, split};
pub use connector::{
    Account, Arrived, Batch, Capabilities, Connector, ConnectorKind, FactsPage, MissedPage,
    Outbound, Page, Sent, Sink, SinkClosed,
};
pub use error::{ConnectorError, Result};
pub use hook::{HookAnswer, HookReply, HookRequest};
pub use import::{
    DayOrder, Detected, ImportError, ImportOptions, ImportProgress, ImportSink, Importer, Probe,
    Skipped,
};
pub use inbound::{Actor, Inbound, Intent, Interaction, Wish};
pub use link::{Field, LinkSettings};
pub use outbound::{Buttons, Draft, Pace, Part, Posting, Receipt};

/// A future that a trait object answers with.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
