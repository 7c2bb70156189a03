//! Sentry: webhooks of an internal integration come in, comments on issues go out.

mod client;
mod kind;
mod map;
mod map_alert;
mod map_error;
mod map_issue;
mod own;
mod receive;
#[cfg(test)]
mod tests;

pub use kind::Sentry;
