//! WhatsApp: the Cloud API of a business number, which calls the hub when something is said.
//!
//! There is no history and no stream: what arrives by webhook is what there is, and what people
//! export from the app.

mod api;
mod connector;
mod content;
pub mod export;
mod kind;
mod message;
mod person;
mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use kind::WhatsApp;
