//! All behaviour of Waystation: operations, the catalogue that is their one door, live readers and duties.
//!
//! One folder a capability, one file an operation, one visible list (`operations.rs`). Edges hand a name
//! and JSON to [`Catalogue::call`]; nothing else reaches an operation.
#![forbid(unsafe_code)]

pub mod admin;
pub mod agents;
pub mod audit;
mod call;
mod catalogue;
pub mod chats;
mod choices;
pub mod clock;
pub mod duties;
mod error;
mod hub;
pub mod identity;
pub mod links;
pub mod live;
pub mod memory;
mod metrics;
mod operation;
mod operations;
mod page;
mod quota;
pub mod relay;
pub mod threads;
mod unbroken;
mod waiters;
pub mod wakes;

pub use call::{Call, Change, Trace};
pub use catalogue::{Catalogue, Description, Entry, Input};
pub use clock::{Clock, Entropy, SystemClock, SystemEntropy};
pub use error::{Error, Result};
pub use hub::{Hub, Parts, Settings};
pub use metrics::{Gauge, Metrics};
pub use operation::{Answer, Effect, Method, Operation, Quota, Route};
pub use operations::catalogue;
pub use quota::Rate;
