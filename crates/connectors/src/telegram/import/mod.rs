//! Reading the `result.json` of Telegram Desktop: one chat, or everything.
//!
//! The file may have gigabytes. It is cut into messages by a scanner that looks at brackets and
//! quotes alone, so memory stays small and one bad message harms no other.

mod chat;
mod detect;
mod format;
mod message;
mod outlet;
mod peer;
mod record;
mod repair;
mod scanner;
mod service;
mod soft;
mod time;
mod walk;

pub use format::TelegramExport;
