//! Numbers of payment cards: an issuer's range, a length it gives out, and the check digit.

use super::class::Class;
use super::context::{Around, words};
use super::find::Found;
use super::folded::Folded;
use super::groups::{Group, chain, digits, lengths, stands_alone};

const DIGITS_MIN: usize = 12;
const DIGITS_MAX: usize = 19;
/// Shorter numbers than this are cards only where a word says so.
const DIGITS_PLAIN_MIN: usize = 13;
/// Up to so many digits without groups, other numbers are as long.
const DIGITS_LIKELY_MAX: usize = 14;
const GROUPS_MAX: usize = 19;
words!(
    /// What a short number is that only looks alike.
    OTHERS,
    [
        "timestamp*", "ts", "time", "epoch*", "id", "order*", "tracking*", "seq", "offset", "at", "ean*",
        "gtin*", "upc*", "isbn*", "nonce", "bytes", "size", "ns", "ms",
    ]
);
words!(
    WORDS,
    [
        "card*",
        "credit",
        "debit",
        "visa",
        "mastercard",
        "maestro",
        "amex",
        "*karte*",
        "*carte*",
        "tarjeta*",
        "karta*",
        "karty",
        "カード*",
        "pan",
    ]
);
/// How people and machines group the digits of a card.
const SHAPES: [&[usize]; 15] = [
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 4, 1],
    &[4, 4, 4, 4, 2],
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 1],
    &[4, 4, 4, 2],
    &[4, 4, 4, 3],
    &[4, 3, 3, 3],
    &[4, 5, 6],
    &[6, 13],
    &[6, 6, 4],
    &[8, 8],
    &[4, 4, 8],
];

/// Finds cards.
pub(super) fn find(text: &Folded, groups: &[Group], found: &mut Found) {
    let mut first = 0;
    while first < groups.len() {
        let chained = chain(text, groups, first, GROUPS_MAX, is_between);
        let taken = longest(text, chained);
        if let Some(count) = taken {
            let (Some(start), Some(end)) = (chained.first(), chained.get(count - 1)) else { break };
            found.add(Class::Card, "card", start.start, end.end);
        }
        first += taken.unwrap_or(1);
    }
}

/// How many groups from the first one on make a card.
fn longest(text: &Folded, chained: &[Group]) -> Option<usize> {
    (1..=chained.len()).rev().find(|count| {
        let taken = chained.get(..*count).unwrap_or_default();
        let total: usize = taken.iter().map(|group| group.len()).sum();
        (DIGITS_MIN..=DIGITS_MAX).contains(&total) && is_card(text, taken)
    })
}

fn is_card(text: &Folded, groups: &[Group]) -> bool {
    let shape = lengths(groups);
    let is_even = shape.split_first().is_some_and(|(first, rest)| {
        *first <= 5
            && rest.iter().all(|length| length <= first)
            && rest
                .split_last()
                .is_none_or(|(_, middle)| middle.iter().all(|length| length == first))
    });
    if shape.len() > 1 && !is_even && !SHAPES.contains(&shape.as_slice()) {
        return false;
    }
    let (Some(start), Some(end)) = (groups.first(), groups.last()) else { return false };
    // Code writes long numbers with underscores as well.
    if shape != [4, 4, 4, 4] && text.slice(start.start, end.end).contains(&'_') {
        return false;
    }
    let number = digits(text, groups);
    let is_phone = text.back(start.start, 1) == '+';
    if !is_issued(&number)
        || !luhn(&number)
        || !stands_alone(text, start.start, end.end)
        || is_phone
    {
        return false;
    }
    if number.len() > DIGITS_LIKELY_MAX || shape.len() > 1 {
        return true;
    }
    let around = Around::of(text, start.start, end.end);
    let is_likely = number.len() >= DIGITS_PLAIN_MIN && !around.is_beside(&OTHERS);
    is_likely || around.mentions(&WORDS)
}

fn is_between(between: &[char]) -> bool {
    matches!(
        between,
        [] | [' ' | '-' | '.' | '_' | '/' | '\t'] | [' ', ' '] | [' ', '-' | '.', ' '] | ['-', '-']
    )
}

/// The check digit of cards and of some numbers of states.
pub(super) fn luhn(number: &[u8]) -> bool {
    let sum: u32 = number
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let doubled = u32::from(*digit) << (place % 2);
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10) && number.iter().any(|digit| *digit != 0)
}

/// Whether an issuer gives out numbers that begin so and are as long.
fn is_issued(number: &[u8]) -> bool {
    let head = number.iter().take(6).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let length = number.len();
    match head {
        400_000..=499_999 => matches!(length, 13 | 16 | 18 | 19),
        510_000..=559_999 | 222_100..=272_099 => length == 16,
        340_000..=349_999 | 370_000..=379_999 => length == 15,
        300_000..=305_999 | 309_500..=309_599 | 380_000..=399_999 => matches!(length, 14 | 16 | 19),
        360_000..=369_999 => (14..=19).contains(&length),
        // JCB, Discover, UnionPay, RuPay, Mir, Troy, Elo and the like.
        352_800..=358_999
        | 600_000..=609_999
        | 640_000..=659_999
        | 620_000..=629_999
        | 810_000..=829_999
        | 220_000..=220_499
        | 979_200..=979_289
        | 636_000..=636_999 => (16..=19).contains(&length),
        // Maestro and Dankort.
        500_000..=509_999
        | 560_000..=589_999
        | 630_000..=635_999
        | 637_000..=639_999
        | 670_000..=679_999 => (12..=19).contains(&length),
        _ => false,
    }
}
