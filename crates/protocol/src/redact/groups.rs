//! Runs of digits, and how they hang together.

use super::folded::Folded;

/// A run of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Group {
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }
}

/// Longer runs are cut off: nothing that is looked for has so many digits.
const GROUP_DIGITS_MAX: usize = 40;

/// Every run of digits.
pub(super) fn groups(text: &Folded) -> Vec<Group> {
    let mut found = Vec::new();
    let mut place = 0;
    while place < text.len() {
        if text.at(place).is_ascii_digit() {
            let end = text.skip(place, usize::MAX, |c| c.is_ascii_digit());
            if end - place <= GROUP_DIGITS_MAX {
                found.push(Group { start: place, end });
            }
            place = end;
        } else {
            place += 1;
        }
    }
    found
}

/// The groups that follow one another from a group on, as long as a function likes what is between.
pub(super) fn chain<'a>(
    text: &Folded,
    groups: &'a [Group],
    first: usize,
    most: usize,
    joins: impl Fn(&[char]) -> bool,
) -> &'a [Group] {
    let rest = groups.get(first..).unwrap_or_default();
    let mut count = usize::from(!rest.is_empty());
    while count < most {
        let (Some(last), Some(next)) = (rest.get(count.wrapping_sub(1)), rest.get(count)) else {
            break;
        };
        if !joins(text.slice(last.end, next.start)) {
            break;
        }
        count += 1;
    }
    rest.get(..count).unwrap_or_default()
}

/// The digits of groups, as numbers.
pub(super) fn digits(text: &Folded, groups: &[Group]) -> Vec<u8> {
    groups
        .iter()
        .flat_map(|group| text.slice(group.start, group.end))
        .filter_map(|c| c.to_digit(10).and_then(|digit| u8::try_from(digit).ok()))
        .collect()
}

/// The lengths of groups.
pub(super) fn lengths(groups: &[Group]) -> Vec<usize> {
    groups.iter().map(|group| group.len()).collect()
}

/// Whether a number stands by itself: no letter, digit, or part of a longer number touches it.
pub(super) fn stands_alone(text: &Folded, start: usize, end: usize) -> bool {
    let (last, before) = (text.back(start, 1), text.back(start, 2));
    let (next, after) = (text.at(end), text.at(end + 1));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = match last {
        '-' | '.' | '/' | ',' => !before.is_ascii_digit(),
        c => !is_word(c) || is_unit_before(c),
    };
    let ends = match next {
        '-' => !after.is_ascii_alphanumeric(),
        '.' | ',' | '/' | ':' => !after.is_ascii_digit(),
        c => !is_word(c),
    };
    begins && ends
}

/// Underscores join words to what they name: `card_4111…`.
fn is_unit_before(c: char) -> bool {
    c == '_'
}
