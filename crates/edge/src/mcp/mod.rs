//! MCP: the catalogue as tools, threads and chats as resources, prompts, both eras of the protocol on every transport.
//!
//! rmcp speaks the protocol; this folder says what is behind it. Every call goes through the
//! catalogue's one door, so an MCP client can do exactly what the same caller can do over REST.
mod arrivals;
mod chats;
mod completion;
mod failure;
mod http;
mod lines;
mod plain;
mod prompts;
mod resources;
mod review;
mod said;
mod server;
mod sessions;
mod sift;
mod stream;
mod streamed;
mod subscriptions;
mod token;
mod tools;
mod toolsets;
mod uri;
mod written;

use std::sync::Arc;

use ::hub::{Catalogue, Hub};

pub(crate) use chats::is_address as is_address_of_chats;
pub(crate) use failure::too_long;
pub use http::{HttpService, HttpSettings, http_service, http_service_for, http_service_of};
pub(crate) use lines::framed;
pub use server::{Server, Who};
pub(crate) use stream::serve_bridge;
pub use stream::{serve_stream, serve_stream_for};
pub(crate) use tools::repeatable;

/// What stands behind every edge.
#[derive(Clone)]
pub struct App {
    /// The hub.
    pub hub: Arc<Hub>,
    /// Its one door.
    pub catalogue: Arc<Catalogue>,
}
