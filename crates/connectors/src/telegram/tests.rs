//! Telegram from end to end: translation, streams against a fake of the Bot API, exports.

mod collect;
mod export;
mod export_property;
mod link;
mod stream;
mod translation;
