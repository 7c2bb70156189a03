//! A folded text that messages must contain.

use memchr::memmem::Finder;
use protocol::limits;

use super::signature;
use crate::error::{Result, StoreError};

/// A folded text that messages must contain, ready to be looked for.
pub(super) struct Needle {
    /// Looks for it in texts.
    pub(super) finder: Finder<'static>,
    /// The bits that it has in every signature.
    pub(super) bits: Vec<usize>,
}

impl Needle {
    /// From a folded text that is not empty.
    pub(super) fn new(folded: &str, signature_bits: usize) -> Self {
        Self {
            finder: Finder::new(folded.as_bytes()).into_owned(),
            bits: signature::needle_bits(folded, signature_bits),
        }
    }

    /// Whether a text contains it.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.finder.find(text).is_some()
    }
}

/// Refuses what is too long to be looked for.
pub(super) fn check_length(text: &str) -> Result<()> {
    if text.chars().count() > limits::SEARCH_QUERY_CHARS_MAX {
        let max = limits::SEARCH_QUERY_CHARS_MAX;
        return Err(StoreError::BadQuery(format!("it is longer than {max} characters")));
    }
    Ok(())
}
