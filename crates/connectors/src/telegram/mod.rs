//! Telegram: what a bot sees as it happens, and what people export from Telegram Desktop.
//!
//! A bot gets no history and hears of no deletions, so the archive grows from the day it is linked;
//! an export fills in what was said before.

mod api;
mod client;
mod ids;
mod import;
mod kind;
mod receive;
mod send;
mod stream;
#[cfg(test)]
mod tests;
mod translate;
mod watch;

pub use import::TelegramExport;
pub use kind::Telegram;
