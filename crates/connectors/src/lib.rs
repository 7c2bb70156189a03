//! The services a hub can be linked to: one folder each, and one visible table of them.
//!
//! A connector reports facts and sends what it is handed; it stores nothing and decides nothing.
#![forbid(unsafe_code)]

mod comment;
mod foreign;
mod form;
pub mod github;
mod markdown;
pub mod model;
mod moment;
pub mod openproject;
mod outcome;
mod reading;
pub mod sentry;
pub mod session;
pub mod signal;
pub mod slack;
mod tag;
pub mod telegram;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod try_out;
mod web;
pub mod webhook;
pub mod whatsapp;
mod words;

use connector_api::ConnectorKind;

/// Every service, in the order of the documentation.
pub const ALL: &[&dyn ConnectorKind] = &[
    &telegram::Telegram,
    &signal::Signal,
    &whatsapp::WhatsApp,
    &slack::Slack,
    &github::Github,
    &sentry::Sentry,
    &openproject::OpenProject,
    &webhook::Webhook,
];

/// A service by its name.
pub fn kind(service: &str) -> Option<&'static dyn ConnectorKind> {
    ALL.iter().copied().find(|kind| kind.service() == service)
}
