//! Numbers with letters in them. Each has a shape of its own, and most a check.

use super::super::class::Class;
use super::super::context::{Around, Words, words};
use super::super::find::Found;
use super::super::folded::Folded;
use super::checks;

/// Letters and digits of the longest.
const SIGNS_MAX: usize = 18;
/// Signs between the parts.
const GAP_CHARS_MAX: usize = 1;

words!(
    /// What a code is that only looks alike.
    OTHERS,
    ["order*", "sku*", "part", "serial*", "model*", "ref*", "commit*"]
);

/// Finds codes that begin where a word does.
pub(super) fn find(text: &Folded, found: &mut Found) {
    for place in 0..text.len() {
        let c = text.at(place);
        let last = text.back(place, 1);
        if !c.is_ascii_alphanumeric() || last.is_ascii_alphanumeric() || last == '_' {
            continue;
        }
        if let Some((name, end)) = at(text, place) {
            found.add(Class::NationalId, name, place, end);
        }
    }
}

/// What a code is that has so many signs.
type Rule = fn(&[char]) -> bool;

const RULES: [(&str, usize, Rule); 9] = [
    ("es_dni", 9, es),
    ("gb_nino", 9, gb_nino),
    ("fi_hetu", 10, never),
    ("de_insurance", 12, de_insurance),
    ("it_fiscal", 16, it_fiscal),
    ("fr_nir", 15, fr_corsica),
    ("cn_resident", 18, cn_resident),
    ("mx_curp", 18, mx_curp),
    ("in_pan", 10, in_pan),
];

fn at(text: &Folded, start: usize) -> Option<(&'static str, usize)> {
    if let Some(end) = fi_hetu(text, start) {
        return Some(("fi_hetu", end));
    }
    let (signs, ends) = collect(text, start);
    RULES.iter().find_map(|(name, length, rule)| {
        let code = signs.get(..*length)?;
        let end = *ends.get(length - 1)?;
        let is_whole = !text.at(end).is_ascii_alphanumeric() && text.at(end) != '_';
        let has_both =
            code.iter().any(char::is_ascii_digit) && code.iter().any(char::is_ascii_alphabetic);
        (is_whole && has_both && rule(code) && is_meant(text, start, end, name))
            .then_some((*name, end))
    })
}

/// The letters and digits from here on, single signs between left out, and where each ends.
fn collect(text: &Folded, start: usize) -> (Vec<char>, Vec<usize>) {
    let (mut signs, mut ends) = (Vec::with_capacity(SIGNS_MAX), Vec::with_capacity(SIGNS_MAX));
    let mut place = start;
    while signs.len() < SIGNS_MAX {
        let c = text.at(place);
        if c.is_ascii_alphanumeric() {
            signs.push(c.to_ascii_uppercase());
            place += 1;
            ends.push(place);
            continue;
        }
        let next = text.skip(place, GAP_CHARS_MAX, |c| matches!(c, ' ' | '-' | '.'));
        if next == place || !text.at(next).is_ascii_alphanumeric() {
            break;
        }
        place = next;
    }
    (signs, ends)
}

/// Codes without a check are taken in capitals, or where a word names them.
fn is_meant(text: &Folded, start: usize, end: usize, name: &str) -> bool {
    let words: &[&str] = match name {
        "gb_nino" => &["nino", "national insurance*", "ni number", "ni no*"],
        "in_pan" => &["pan", "permanent account*"],
        "es_dni" => &["dni", "nie", "nif", "documento*"],
        _ => &[],
    };
    let is_spelled_large = text.slice(start, end).iter().all(|c| !c.is_ascii_lowercase());
    if words.is_empty() {
        // Words with spaces between them have as many letters now and then.
        let is_whole = text.slice(start, end).iter().all(char::is_ascii_alphanumeric);
        return is_whole || is_spelled_large;
    }
    let around = Around::of(text, start, end);
    let is_other = around.is_beside(&OTHERS);
    (is_spelled_large && !is_other && name != "in_pan") || around.mentions(&Words::new(words))
}

fn digits_of(code: &[char]) -> Option<u64> {
    code.iter().try_fold(0_u64, |sum, c| Some(sum * 10 + u64::from(c.to_digit(10)?)))
}

fn es(code: &[char]) -> bool {
    let [first, middle @ .., letter] = code else { return false };
    let lead = match first {
        'X' => 0,
        'Y' => 1,
        'Z' => 2,
        digit => match digit.to_digit(10) {
            Some(digit) => u64::from(digit),
            None => return false,
        },
    };
    digits_of(middle).and_then(|rest| checks::es_letter(lead * 10_000_000 + rest)) == Some(*letter)
}

fn gb_nino(code: &[char]) -> bool {
    let [first, second, middle @ .., last] = code else { return false };
    let pair: String = [*first, *second].iter().collect();
    first.is_ascii_alphabetic()
        && second.is_ascii_alphabetic()
        && !"DFIQUV".contains(*first)
        && !"DFIQUVO".contains(*second)
        && !["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"].contains(&pair.as_str())
        && digits_of(middle).is_some()
        && ('A'..='D').contains(last)
}

fn never(_: &[char]) -> bool {
    false
}

/// `131052-308T`: the sign in the middle tells the century.
fn fi_hetu(text: &Folded, start: usize) -> Option<usize> {
    let (birth, century, serial) =
        (text.slice(start, start + 6), text.at(start + 6), text.slice(start + 7, start + 10));
    let number = digits_of(birth)? * 1_000 + digits_of(serial)?;
    let check = text.at(start + 10).to_ascii_uppercase();
    let fits = birth.len() == 6
        && serial.len() == 3
        && "-+ABCDEFYXWVU".contains(century)
        && checks::is_date(digits_of(birth.get(2..4)?)?, digits_of(birth.get(..2)?)?)
        && checks::fi_sign(number) == Some(check)
        && !text.at(start + 11).is_ascii_alphanumeric()
        && text.at(start + 11) != '-';
    fits.then_some(start + 11)
}

fn de_insurance(code: &[char]) -> bool {
    let (Some(head), Some(letter), Some(tail)) = (code.get(..8), code.get(8), code.get(9..)) else {
        return false;
    };
    let is_shaped =
        digits_of(head).is_some() && letter.is_ascii_alphabetic() && digits_of(tail).is_some();
    let day = head.get(2..4).and_then(digits_of).unwrap_or(0) % 50;
    let month = head.get(4..6).and_then(digits_of).unwrap_or(0);
    is_shaped && checks::is_date(month, day) && checks::de_insurance(code)
}

fn it_fiscal(code: &[char]) -> bool {
    let has_letters = |from: usize, to: usize| {
        code.get(from..to).is_some_and(|part| part.iter().all(char::is_ascii_alphabetic))
    };
    has_letters(0, 6)
        && has_letters(8, 9)
        && has_letters(11, 12)
        && has_letters(15, 16)
        && checks::it_fiscal(code)
}

fn fr_corsica(code: &[char]) -> bool {
    checks::fr_nir(code)
}

fn cn_resident(code: &[char]) -> bool {
    code.last() == Some(&'X') && checks::cn_resident(code)
}

fn mx_curp(code: &[char]) -> bool {
    let letters = |from: usize, to: usize| {
        code.get(from..to).is_some_and(|part| part.iter().all(char::is_ascii_alphabetic))
    };
    let date = code.get(4..10).and_then(digits_of);
    letters(0, 4)
        && date.is_some_and(|date| checks::is_date(date / 100 % 100, date % 100))
        && matches!(code.get(10), Some('H' | 'M' | 'X'))
        && letters(11, 16)
        && code.get(17).is_some_and(char::is_ascii_digit)
}

fn in_pan(code: &[char]) -> bool {
    let is_letters = code.get(..5).is_some_and(|part| part.iter().all(char::is_ascii_alphabetic));
    is_letters
        && code.get(3).is_some_and(|c| "PCFHATBLJG".contains(*c))
        && code.get(5..9).and_then(digits_of).is_some()
        && code.get(9).is_some_and(char::is_ascii_alphabetic)
}
