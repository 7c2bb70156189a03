//! Chats: importing an archive, finding things in it, and being told what arrives.

mod corpus;
mod find;

pub(crate) use find::measure as find;
