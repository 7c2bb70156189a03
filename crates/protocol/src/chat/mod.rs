//! Chats from outside: how a caller says when and where, and how what people wrote is shown.
//! Everything here reads or writes text of strangers, so it is pure, bounded and tested against
//! arbitrary input.

pub mod clean;
pub mod lines;
pub mod uri;
pub mod when;
