//! Keys, tokens and passwords: by how vendors spell them, or by the word in front.

mod assigned;
mod entropy;
mod pem;
mod url;
mod vendors;

use super::find::Found;
use super::folded::Folded;

/// Finds secrets.
pub(super) fn find(text: &Folded, found: &mut Found) {
    pem::find(text, found);
    vendors::find(text, found);
    url::find(text, found);
    assigned::find(text, found);
}

/// Whether a secret may begin here: the sign before it does not belong to a word.
fn begins(text: &Folded, place: usize) -> bool {
    let last = text.back(place, 1);
    !last.is_ascii_alphanumeric()
}
