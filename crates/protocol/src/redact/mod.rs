//! Personal data and secrets in text: found by hand-written scanners, replaced by stable tokens.
//!
//! Each scanner walks the folded text once and looks at a bounded stretch around what it meets, so the
//! work grows with the text and with nothing else, whatever the text is.

mod card;
mod class;
mod context;
mod email;
mod find;
mod folded;
mod groups;
mod iban;
mod ip;
mod json;
mod names;
mod national;
mod obfuscated;
mod phone;
mod secret;
mod ssn;
mod stream;
#[cfg(test)]
mod tests;
mod token;

pub use class::{Class, Counts, Span};
pub use find::{Redacted, Redactor};
pub use names::KnownNames;
pub use stream::whole_part;
pub use token::TokenKey;
