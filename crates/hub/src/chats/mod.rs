//! Chats: people's conversations at other services, taken in from links and imports, read by agents.
mod details;
mod take;

pub use take::Taken;
