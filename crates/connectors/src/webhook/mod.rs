//! Webhooks of anybody's: what leaves is signed as Standard Webhooks say, and encrypted to the
//! receiver where its key is known.

mod client;
mod jwe;
mod kind;
mod recipient;
mod sign;
#[cfg(test)]
mod tests;

pub use kind::Webhook;
