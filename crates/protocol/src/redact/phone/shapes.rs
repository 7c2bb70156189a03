//! How digits of a number without a country code are grouped, and what that says.

use super::super::folded::Folded;
use super::super::groups::{Group, lengths};
use super::plans;

/// How much a grouping says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Hardly anything else is written so.
    Clear,
    /// Other numbers are written so as well; some word nearby should speak for it.
    Likely,
    /// Digits without groups: a word has to say what they are.
    Bare,
    /// The same, and short: the word has to stand right before.
    Short,
}

/// Groupings of numbers that begin with a zero and one more digit.
const ZERO_AND_ONE: [&[usize]; 16] = [
    &[2, 2, 2, 2, 2],
    &[2, 4, 4],
    &[2, 8],
    &[2, 3, 2, 2],
    &[2, 3, 3, 2],
    &[2, 3, 4],
    &[2, 7],
    &[2, 4, 2, 2],
    &[2, 3, 3, 3],
    &[2, 3, 3],
    &[2, 4, 3],
    &[2, 3, 5],
    &[2, 9],
    &[2, 6],
    &[2, 3, 2, 3],
    &[2, 2, 2, 2, 3],
];
/// Groupings without a zero that are common somewhere, with the digits that the first may be.
const OPEN: [(&[usize], &str); 26] = [
    (&[3, 3, 3], "456789"),
    (&[2, 3, 2, 2], "123456789"),
    (&[3, 2, 2, 2], "6789"),
    (&[5, 5], "6789"),
    (&[4, 3, 3], "6789"),
    (&[2, 4, 4], "123456789"),
    (&[2, 5, 4], "123456789"),
    (&[3, 4, 4], "1"),
    (&[3, 8], "1"),
    (&[3, 7], "3"),
    (&[3, 6], "36"),
    (&[3, 6, 1], "3"),
    (&[4, 4], "235689"),
    (&[2, 2, 2, 2], "23456789"),
    (&[3, 2, 3], "49"),
    (&[1, 3, 3, 2, 2], "8"),
    (&[3, 3, 2, 2], "3456789"),
    (&[3, 3, 4], "23456789"),
    (&[1, 3, 3, 4], "1"),
    (&[3, 4, 3], "236789"),
    (&[2, 3, 4], "235679"),
    (&[1, 4, 4], "23456789"),
    (&[4, 6], "16789"),
    (&[3, 3, 3, 1], "3"),
    (&[2, 7], "123456789"),
    (&[2, 8], "123456789"),
];

/// What the grouping of a number says; `None` where nobody writes a telephone's so.
pub(super) fn of(text: &Folded, groups: &[Group], number: &[u8]) -> Option<Shape> {
    let (first, last) = (groups.first()?, groups.last()?);
    let shape = lengths(groups);
    let is_bracketed =
        text.back(first.start, 1) == '(' && text.slice(first.end, first.end + 1) == [')'];
    if let [total] = shape.as_slice() {
        return bare(number, *total);
    }
    // Numbers in a row are a table.
    let is_in_row = text.back(first.start, 1) == ' ' && text.back(first.start, 2).is_ascii_digit();
    if number.starts_with(&[0, 0]) {
        return (!is_in_row && plans::is_valid(number.get(2..)?)).then_some(Shape::Clear);
    }
    if is_bracketed {
        return bracketed(number, &shape);
    }
    let is_dashed = (first.end..last.start).any(|place| matches!(text.at(place), '-' | '.' | '/'));
    if is_north_american(number, &shape) {
        return Some(if is_dashed || shape.len() == 3 { Shape::Clear } else { Shape::Likely });
    }
    if number.first() == Some(&0) {
        return zero(number, &shape).filter(|_| !is_in_row);
    }
    if shape == [3, 4] {
        return is_dashed.then_some(Shape::Short);
    }
    let digit = char::from_digit(u32::from(*number.first()?), 10)?;
    // Dates are written with the same signs.
    let is_date = is_dashed && shape.iter().all(|length| *length == 2);
    let is_open = OPEN.iter().any(|(open, firsts)| *open == shape && firsts.contains(digit));
    (is_open && !is_date).then_some(Shape::Likely)
}

fn bare(number: &[u8], total: usize) -> Option<Shape> {
    match total {
        9..=15 if number.iter().any(|digit| Some(digit) != number.first()) => Some(Shape::Bare),
        7 | 8 => Some(Shape::Short),
        _ => None,
    }
}

/// `(415) 555-0132`, `(030) 1234567`, `(11) 91234-5678`, `(0)20 7946 0958`
fn bracketed(number: &[u8], shape: &[usize]) -> Option<Shape> {
    let total = number.len();
    let area = shape.first().copied()?;
    let fits = (1..=6).contains(&area)
        && (8..=12).contains(&total)
        && shape.len() <= 5
        && shape.iter().skip(1).all(|length| (2..=9).contains(length));
    fits.then_some(Shape::Clear)
}

/// Three, three and four digits, where the parts begin with two or more; a one may stand in front.
fn is_north_american(number: &[u8], shape: &[usize]) -> bool {
    let (number, shape) = match (number, shape) {
        ([1, rest @ ..], [1, inner @ ..]) => (rest, inner),
        whole => whole,
    };
    shape == [3, 3, 4]
        && number.first().is_some_and(|digit| *digit >= 2)
        && (number.get(3).is_some_and(|digit| *digit >= 2) || number.starts_with(&[5, 5, 5]))
}

/// A zero in front, as most of the world dials inside a country.
fn zero(number: &[u8], shape: &[usize]) -> Option<Shape> {
    let total = number.len();
    let area = shape.first().copied()?;
    let fits = match area {
        2 => ZERO_AND_ONE.contains(&shape) && number.get(1).is_some_and(|digit| *digit > 0),
        3..=6 => {
            (8..=12).contains(&total)
                && shape.iter().skip(1).all(|length| (2..=9).contains(length))
                && number.get(1).is_some_and(|digit| *digit > 0)
        }
        _ => false,
    };
    let is_long = total >= 9;
    fits.then_some(if is_long { Shape::Clear } else { Shape::Likely })
}
