//! Numbers that states give to people, where a checksum or a shape of its own tells them.

mod checks;
mod letters;
mod numbers;

use super::find::Found;
use super::folded::Folded;
use super::groups::Group;

/// Finds numbers.
pub(super) fn find(text: &Folded, groups: &[Group], found: &mut Found) {
    numbers::find(text, groups, found);
    letters::find(text, found);
}
