//! A Bot API that behaves: polls block and are ended by the next poller, updates stay until they are
//! confirmed, and a webhook is called until it answers 200.

mod api;
mod bot;
mod webhook;

pub use bot::{BOT_ID, Failure, FakeTelegram, TOKEN};
