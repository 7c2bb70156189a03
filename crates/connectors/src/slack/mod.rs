//! Slack: events over Socket Mode or the Events API, history and sending over the Web API, and
//! workspace exports.

mod api;
mod blocks;
mod blocks_relay;
mod check;
mod client;
mod editor;
mod event;
mod event_relay;
mod history;
mod import;
mod json;
mod kind;
mod listing;
mod map_command;
mod map_interaction;
mod message;
mod names;
mod people;
mod place;
mod post_chat;
mod post_relay;
#[cfg(test)]
mod posting_tests;
mod receive;
mod render;
mod render_relay;
mod send;
mod socket;
#[cfg(test)]
mod tests;

pub(crate) use kind::Slack;
