//! Sentry: webhooks of an internal integration come in, comments on issues go out.

mod api;
mod check;
mod client;
mod kind;
mod map;
mod map_alert;
mod map_error;
mod map_issue;
mod missed;
mod own;
mod page;
mod post;
#[cfg(test)]
mod posting_tests;
mod receive;
mod render;
#[cfg(test)]
mod tests;

pub use kind::Sentry;
