//! From updates of the Bot API to facts. Nothing vanishes: what is not known is kept as such.

mod content;
pub(super) mod json;
mod member;
mod message;
mod people;
mod service;
mod text;
mod update;

pub(super) use update::update;
