//! Chats: importing an archive, finding things in it, and being told what arrives.

mod corpus;
mod export;
mod find;
mod import;
mod stream;

pub(crate) use corpus::Numbers;
pub(crate) use find::measure as find;
pub(crate) use import::measure as import;
pub(crate) use stream::measure as stream;
