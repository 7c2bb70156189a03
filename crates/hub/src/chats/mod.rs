//! Chats: people's conversations at other services, taken in from links and imports, read by agents.
//!
//! A chat is a thread with an origin. Operations on threads do not see it: who may read it is said by
//! the chats that a token gives, and nothing outside them exists for its holder.
mod add_messages;
mod arrivals;
mod coverage;
mod details;
mod find;
mod follow;
mod get_attachment;
mod get_context;
mod get_messages;
pub(crate) mod grant;
mod list_chats;
mod list_sources;
pub(crate) mod rules;
mod send_message;
mod sending;
pub(crate) mod sight;
pub(crate) mod take;
pub(crate) mod view;
pub(crate) mod wait;

use protocol::chat::ContentType;

pub use add_messages::AddMessages;
pub use follow::{Arrival, ChatFollow, follow};
pub use get_attachment::GetAttachment;
pub use get_context::GetContext;
pub use get_messages::GetMessages;
pub use list_chats::ListChats;
pub use list_sources::ListSources;
pub use send_message::SendMessage;
pub use take::Taken;

/// What a message holds, as the index knows it.
pub(crate) fn content_code(details: Option<&str>) -> u16 {
    let content = details::Details::from_text(details).map_or(ContentType::Other, |d| d.content());
    u16::try_from(content.code()).unwrap_or(u16::MAX)
}

/// The MCP tools of chats, whose refusals say `INVALID_PARAMETER`.
pub(crate) const TOOLSET: &str = "chats";
