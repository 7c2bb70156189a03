//! Numbers of telephones: how their digits are grouped, and which words stand near.

mod plans;
mod shapes;
mod words;

use super::class::Class;
use super::context::Around;
use super::find::Found;
use super::folded::Folded;
use super::groups::{Group, chain, digits};
use shapes::Shape;

const GROUPS_MAX: usize = 8;
const DIGITS_MAX: usize = 16;
/// How far away a word may stand that makes a bare number a telephone's.
const NEAR_CHARS: usize = 40;
/// The same for numbers that are short.
const CLOSE_CHARS: usize = 14;

/// Finds numbers.
pub(super) fn find(text: &Folded, groups: &[Group], found: &mut Found) {
    let mut first = 0;
    while first < groups.len() {
        let chained = chain(text, groups, first, GROUPS_MAX, is_between);
        let taken = (1..=chained.len())
            .rev()
            .find(|count| chained.get(..*count).is_some_and(|taken| is_phone(text, taken)));
        if let Some(count) = taken
            && let (Some(start), Some(end)) = (chained.first(), chained.get(count - 1))
        {
            let (start, end) = widened(text, start.start, end.end);
            found.add(Class::Phone, "phone", start, end);
        }
        first += taken.unwrap_or(1);
    }
}

/// The sign in front and the extension behind belong to it.
fn widened(text: &Folded, start: usize, end: usize) -> (usize, usize) {
    let mut from = start;
    while from > 0 && start - from < 2 && matches!(text.back(from, 1), '+' | '(') {
        from -= 1;
    }
    let mut place = text.skip(end, 2, |c| matches!(c, ' ' | ','));
    let word = text.skip(place, 5, char::is_alphabetic);
    let spelled = text.text(place, word).to_lowercase();
    if matches!(spelled.as_str(), "x" | "ext" | "extn" | "app" | "poste" | "wew") {
        place = text.skip(word, 2, |c| matches!(c, '.' | ' ' | ':'));
        let extension = text.skip(place, 6, |c| c.is_ascii_digit());
        if extension > place {
            return (from, extension);
        }
    }
    (from, end)
}

fn is_phone(text: &Folded, groups: &[Group]) -> bool {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return false };
    let total: usize = groups.iter().map(|group| group.len()).sum();
    if !(6..=DIGITS_MAX).contains(&total) || !is_apart(text, first.start, last.end) {
        return false;
    }
    let number = number(text, groups);
    let is_international = text.back(first.start, 1) == '+'
        || (text.back(first.start, 1) == '(' && text.back(first.start, 2) == '+');
    if is_international {
        let before = text.back(first.start, 2);
        return !before.is_ascii_alphanumeric() && plans::is_valid(&number);
    }
    let shape = shapes::of(text, groups, &number);
    let Some(shape) = shape else { return false };
    let around = Around::of(text, first.start, last.end);
    let for_it = around.speaks(&words::PHONE);
    let is_other = around.is_beside(&words::OTHER) || around.is_followed_by(words::UNITS);
    let against = around.nearest(&words::OTHER);
    let is_nearest = |most: usize| {
        for_it.is_some_and(|near| near <= most && against.is_none_or(|other| near <= other))
    };
    match shape {
        Shape::Clear => !is_other || is_nearest(NEAR_CHARS),
        Shape::Likely => {
            !is_other && (for_it.is_some() || around.is_soon_followed_by(&words::PHONE))
        }
        Shape::Bare => {
            let is_after =
                for_it.is_none() && against.is_none() && around.is_soon_followed_by(&words::PHONE);
            !is_other && (is_nearest(NEAR_CHARS) || is_after)
        }
        Shape::Short => !is_other && is_nearest(CLOSE_CHARS),
    }
}

/// The digits without a `(0)` that is left out when one dials from elsewhere.
fn number(text: &Folded, groups: &[Group]) -> Vec<u8> {
    let kept: Vec<Group> = groups
        .iter()
        .copied()
        .filter(|group| {
            let is_zero = group.len() == 1 && text.at(group.start) == '0';
            !(is_zero && text.back(group.start, 1) == '(' && text.at(group.end) == ')')
        })
        .collect();
    digits(text, &kept)
}

/// Whether nothing is glued to the number that makes it part of something else.
fn is_apart(text: &Folded, start: usize, end: usize) -> bool {
    let (last, before) = (text.back(start, 1), text.back(start, 2));
    let (next, after) = (text.at(end), text.at(end + 1));
    let begins = match last {
        '-' | '_' | '#' => !before.is_ascii_alphanumeric(),
        '.' | '/' | ',' | ':' => !before.is_ascii_digit(),
        '$' | '€' | '£' | '¥' => false,
        c => !c.is_ascii_alphanumeric(),
    };
    let ends = match next {
        '-' | '_' => !after.is_ascii_alphanumeric(),
        '.' | ',' | ':' | '/' => !after.is_ascii_digit(),
        '%' | '€' | '$' | '£' | '°' => false,
        'x' => after.is_ascii_digit() || after == ' ',
        c => !c.is_ascii_alphanumeric(),
    };
    begins && ends
}

fn is_between(between: &[char]) -> bool {
    matches!(
        between,
        [' ' | '-' | '.' | '/' | '(' | ')']
            | [' ', '(' | '-' | '/' | '.' | ' ']
            | [')', ' ' | '-' | '/' | '.']
            | ['-' | '/' | '.', ' ']
            | [' ', '-' | '/', ' ']
            | [')', ' ', '-' | ' ']
            | ['.' | '-', '(']
    )
}
