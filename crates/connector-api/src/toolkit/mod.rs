//! What everything that talks to the outside shares: one HTTP client and the rule where it may go.

pub mod address;
pub mod destination;
pub mod http;

pub use destination::Destination;
pub use http::{HttpClient, HttpError, HttpSettings};
