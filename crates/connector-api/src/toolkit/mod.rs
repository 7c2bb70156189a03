//! What everything that talks to the outside shares: one HTTP client and the rule where it may go.

pub mod address;
mod api;
pub mod destination;
pub mod http;
mod websocket;

pub use api::{ApiAnswer, ApiRequest, ApiStream};
pub use destination::Destination;
pub use http::{HttpClient, HttpError, HttpSettings};
pub use websocket::WebSocket;
