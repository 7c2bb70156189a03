//! So that one caller leaves room for the others: how many connections and event streams it may hold,
//! and how slowly it may send.
mod admit;
mod pace;
mod shares;

pub(crate) use admit::{admit, not_read, paced, too_many_connections};
pub(crate) use pace::{Unread, read};
pub use shares::Fairness;
pub(crate) use shares::{Holder, Shares};
