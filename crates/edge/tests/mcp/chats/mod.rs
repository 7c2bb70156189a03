//! People's chats through MCP: every scenario of the specification by its name, in both eras, and
//! what a stranger in a chat may try.
mod completion;
mod discovery;
mod errors;
mod grants;
mod listing;
mod messages;
mod names;
mod prompt;
mod resource;
pub(crate) mod services;
mod streaming;
mod world;
