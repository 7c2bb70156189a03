//! International bank account numbers: a country's length and the checksum.

use super::class::Class;
use super::find::Found;
use super::folded::Folded;

/// Countries with the length of their numbers.
const LENGTHS: [(&str, usize); 88] = [
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];
/// Signs between the parts of a number.
const GAP_CHARS_MAX: usize = 2;

/// Finds account numbers.
pub(super) fn find(text: &Folded, found: &mut Found) {
    let mut place = 0;
    while place + 4 < text.len() {
        if let Some(end) = at(text, place) {
            found.add(Class::Iban, "iban", place, end);
            place = end;
        } else {
            place += 1;
        }
    }
}

fn at(text: &Folded, start: usize) -> Option<usize> {
    let (first, second) = (text.at(start), text.at(start + 1));
    if !first.is_ascii_alphabetic() || !second.is_ascii_alphabetic() {
        return None;
    }
    let last = text.back(start, 1);
    let is_labelled = start >= 4 && text.says(start - 4, "iban");
    if last.is_alphanumeric() && last.is_ascii() && !is_labelled {
        return None;
    }
    let country: String =
        [first.to_ascii_uppercase(), second.to_ascii_uppercase()].iter().collect();
    let (_, length) = LENGTHS.iter().find(|(known, _)| *known == country)?;
    let (number, end) = collect(text, start, *length)?;
    let is_checked = number.get(2..4)?.iter().all(char::is_ascii_digit);
    let ends = !text.at(end).is_ascii_alphanumeric();
    (is_checked && ends && mod_97(&number)).then_some(end)
}

/// The letters and digits of a number, and where it ends.
fn collect(text: &Folded, start: usize, length: usize) -> Option<(Vec<char>, usize)> {
    let mut number = Vec::with_capacity(length);
    let mut place = start;
    while number.len() < length {
        let c = text.at(place);
        if c.is_ascii_alphanumeric() {
            number.push(c.to_ascii_uppercase());
            place += 1;
            continue;
        }
        let next = text.skip(place, GAP_CHARS_MAX, |c| matches!(c, ' ' | '-' | '.' | '_' | '\t'));
        if next == place || !text.at(next).is_ascii_alphanumeric() {
            return None;
        }
        place = next;
    }
    Some((number, place))
}

fn mod_97(number: &[char]) -> bool {
    let (head, tail) = number.split_at(4.min(number.len()));
    let mut rest = 0_u32;
    for c in tail.iter().chain(head) {
        let value = c.to_digit(36).unwrap_or(0);
        rest = (if value > 9 { rest * 100 } else { rest * 10 } + value) % 97;
    }
    rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standards() {
        let good: Vec<char> = "DE89370400440532013000".chars().collect();
        let bad: Vec<char> = "DE89370400440532013001".chars().collect();
        assert!(mod_97(&good) && !mod_97(&bad));
    }

    #[test]
    fn countries_stand_in_order() {
        assert!(LENGTHS.is_sorted());
    }
}
