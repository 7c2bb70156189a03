//! Social security numbers of the United States, by the rules of the office that gives them out.

use super::class::Class;
use super::context::{Around, words};
use super::find::Found;
use super::folded::Folded;
use super::groups::{Group, chain, digits, lengths, stands_alone};

words!(
    WORDS,
    [
        "ssn*",
        "social security*",
        "social_security*",
        "socialsecurity*",
        "social sec*",
        "soc sec*",
        "soc. sec*",
        "itin*",
        "taxpayer*",
        "tax id*",
        "tin",
        "social",
    ]
);
words!(
    /// What a number is that only looks alike.
    OTHERS,
    [
    "part", "sku", "order*", "invoice*", "ticket*", "model*", "serial*", "version*", "build*", "ref*",
    "tracking*", "case", "batch", "lot", "isbn*", "catalog*",
]
);

/// Finds numbers.
pub(super) fn find(text: &Folded, groups: &[Group], found: &mut Found) {
    for first in 0..groups.len() {
        let chained = chain(text, groups, first, 4, is_between);
        if let Some((kind, count)) = at(text, chained) {
            let (Some(start), Some(end)) = (chained.first(), chained.get(count - 1)) else {
                continue;
            };
            let class = if kind == "us_ssn" { Class::Ssn } else { Class::NationalId };
            found.add(class, kind, start.start, end.end);
        }
    }
}

fn at(text: &Folded, chained: &[Group]) -> Option<(&'static str, usize)> {
    let shape = lengths(chained);
    let count = match shape.as_slice() {
        [9, ..] => 1,
        [3, 2, 4, ..] => 3,
        _ => return None,
    };
    let taken = chained.get(..count)?;
    let (start, end) = (taken.first()?.start, taken.last()?.end);
    if !stands_alone(text, start, end) {
        return None;
    }
    let kind = rules(&digits(text, taken))?;
    let around = Around::of(text, start, end);
    let is_named = around.mentions(&WORDS);
    let is_dashed = count == 3 && text.at(taken.first()?.end) == '-';
    let is_likely = match count {
        1 => {
            let is_soon = around.is_soon_followed_by(&WORDS);
            (around.speaks(&WORDS).is_some() || is_soon) && kind == "us_ssn"
        }
        _ if kind == "us_itin" => is_named,
        _ if is_named => true,
        // Numbers in a row are a table, not a number in three parts.
        _ => {
            !around.is_beside(&OTHERS)
                && (is_dashed || (shape.len() == 3 && !text.back(start, 2).is_ascii_digit()))
        }
    };
    is_likely.then_some((kind, count))
}

/// What the digits may be.
fn rules(number: &[u8]) -> Option<&'static str> {
    let value = |from: usize, to: usize| {
        let part = number.get(from..to).unwrap_or_default();
        part.iter().fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit))
    };
    let (area, group, serial) = (value(0, 3), value(3, 5), value(5, 9));
    if group == 0 || serial == 0 || area == 0 || area == 666 {
        return None;
    }
    match (area, group) {
        (1..=899, _) => Some("us_ssn"),
        (_, 50..=65 | 70..=88 | 90..=92 | 94..=99) => Some("us_itin"),
        _ => None,
    }
}

fn is_between(between: &[char]) -> bool {
    matches!(between, ['-' | ' ' | '.'] | [' ', '-', ' '])
}
