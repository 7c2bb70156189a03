//! Numbers that are digits alone.

use super::super::card::luhn;
use super::super::class::Class;
use super::super::context::{Around, Words};
use super::super::find::Found;
use super::super::folded::Folded;
use super::super::groups::{Group, chain, digits, lengths, stands_alone};
use super::checks;

/// A kind of number.
struct Kind {
    name: &'static str,
    /// How its digits are grouped where that alone, with the checksum, tells it.
    shapes: &'static [&'static [usize]],
    /// The signs between the groups then; empty for any.
    signs: &'static str,
    /// How many digits it has.
    digits: usize,
    check: fn(&[u8]) -> bool,
    /// Words that make it one in any grouping.
    words: &'static [&'static str],
}

fn se_person(number: &[u8]) -> bool {
    let short = number.get(number.len().saturating_sub(10)..).unwrap_or_default();
    let part = |from: usize| checks::value(short.get(from..from + 2).unwrap_or_default());
    matches!(number.len(), 10 | 12) && luhn(short) && checks::is_date(part(2), part(4) % 60)
}

fn kr_resident(number: &[u8]) -> bool {
    let part = |from: usize| checks::value(number.get(from..from + 2).unwrap_or_default());
    number.len() == 13
        && checks::is_date(part(2), part(4))
        && number.get(6).is_some_and(|digit| (1..=8).contains(digit))
}

fn ca_sin(number: &[u8]) -> bool {
    number.len() == 9 && luhn(number)
}

fn dk_cpr(number: &[u8]) -> bool {
    let part = |from: usize| checks::value(number.get(from..from + 2).unwrap_or_default());
    number.len() == 10 && checks::is_date(part(2), part(0))
}

fn fr_digits(number: &[u8]) -> bool {
    let letters: Vec<char> =
        number.iter().filter_map(|digit| char::from_digit(u32::from(*digit), 10)).collect();
    checks::fr_nir(&letters)
}

fn cn_digits(number: &[u8]) -> bool {
    let letters: Vec<char> =
        number.iter().filter_map(|digit| char::from_digit(u32::from(*digit), 10)).collect();
    checks::cn_resident(&letters)
}

const KINDS: [Kind; 17] = [
    Kind {
        name: "de_tax",
        shapes: &[&[2, 3, 3, 3]],
        signs: "",
        digits: 11,
        check: checks::de_tax,
        words: &["steuer*", "*steuer-id*", "*steueridentifikation*", "idnr", "tin", "tax*"],
    },
    Kind {
        name: "nl_bsn",
        shapes: &[&[4, 2, 3]],
        signs: ".",
        digits: 9,
        check: checks::nl_bsn,
        words: &["bsn*", "burgerservice*", "sofi*"],
    },
    Kind {
        name: "pl_pesel",
        shapes: &[],
        signs: "",
        digits: 11,
        check: checks::pl_pesel,
        words: &["pesel*"],
    },
    Kind {
        name: "br_cpf",
        shapes: &[&[3, 3, 3, 2]],
        signs: "",
        digits: 11,
        check: checks::br_cpf,
        words: &["cpf*"],
    },
    Kind {
        name: "be_national",
        shapes: &[&[2, 2, 2, 3, 2]],
        signs: "",
        digits: 11,
        check: checks::be_national,
        words: &["rijksregister*", "registre national*", "national number", "niss", "insz"],
    },
    Kind {
        name: "ch_ahv",
        shapes: &[&[3, 4, 4, 2], &[13]],
        signs: "",
        digits: 13,
        check: checks::ch_ahv,
        words: &["ahv*", "avs*"],
    },
    Kind {
        name: "no_birth",
        shapes: &[&[6, 5]],
        signs: "",
        digits: 11,
        check: checks::no_birth,
        words: &["fodselsnummer*", "personnummer*"],
    },
    Kind {
        name: "se_person",
        shapes: &[&[6, 4], &[8, 4]],
        signs: "-+",
        digits: 10,
        check: se_person,
        words: &["personnummer*", "samordningsnummer*"],
    },
    Kind {
        name: "se_person",
        shapes: &[&[8, 4]],
        signs: "-",
        digits: 12,
        check: se_person,
        words: &["personnummer*", "samordningsnummer*"],
    },
    Kind { name: "dk_cpr", shapes: &[], signs: "-", digits: 10, check: dk_cpr, words: &["cpr*"] },
    Kind {
        name: "in_aadhaar",
        shapes: &[&[4, 4, 4]],
        signs: "",
        digits: 12,
        check: checks::in_aadhaar,
        words: &["aadhaar*", "aadhar*", "uidai"],
    },
    Kind {
        name: "jp_my_number",
        shapes: &[],
        signs: "",
        digits: 12,
        check: checks::jp_my_number,
        words: &["マイナンバー", "個人番号", "my number", "mynumber*", "my_number"],
    },
    Kind {
        name: "kr_resident",
        shapes: &[&[6, 7]],
        signs: "-",
        digits: 13,
        check: kr_resident,
        words: &["주민등록번호", "rrn"],
    },
    Kind {
        name: "gb_nhs",
        shapes: &[],
        signs: "",
        digits: 10,
        check: checks::gb_nhs,
        words: &["nhs*"],
    },
    Kind {
        name: "ca_sin",
        shapes: &[],
        signs: "",
        digits: 9,
        check: ca_sin,
        words: &["sin", "social insurance*", "nas"],
    },
    Kind {
        name: "fr_nir",
        shapes: &[&[15], &[13, 2], &[1, 2, 2, 2, 3, 3, 2], &[1, 2, 2, 5, 3, 2]],
        signs: "",
        digits: 15,
        check: fr_digits,
        words: &["nir", "securite sociale*", "secu", "insee"],
    },
    Kind {
        name: "cn_resident",
        shapes: &[&[18], &[6, 8, 4]],
        signs: "",
        digits: 18,
        check: cn_digits,
        words: &["身份证*", "resident id*"],
    },
];

const GROUPS_MAX: usize = 8;
const DIGITS_MIN: usize = 9;
const DIGITS_MAX: usize = 18;

/// Finds numbers.
pub(super) fn find(text: &Folded, groups: &[Group], found: &mut Found) {
    for first in 0..groups.len() {
        let chained = chain(text, groups, first, GROUPS_MAX, is_between);
        for count in 1..=chained.len() {
            let Some(taken) = chained.get(..count) else { continue };
            let (Some(start), Some(end)) = (taken.first(), taken.last()) else { continue };
            let total: usize = taken.iter().map(|group| group.len()).sum();
            if !(DIGITS_MIN..=DIGITS_MAX).contains(&total)
                || !stands_alone(text, start.start, end.end)
            {
                continue;
            }
            if let Some(name) = kind(text, taken, total) {
                found.add(Class::NationalId, name, start.start, end.end);
            }
        }
    }
}

fn kind(text: &Folded, groups: &[Group], total: usize) -> Option<&'static str> {
    let (start, end) = (groups.first()?, groups.last()?);
    let number = digits(text, groups);
    let shape = lengths(groups);
    let mut fitting =
        KINDS.iter().filter(|kind| kind.digits == total && (kind.check)(&number)).peekable();
    fitting.peek()?;
    let around = Around::of(text, start.start, end.end);
    let sign = text.at(start.end);
    fitting
        .find(|kind| {
            let is_signed = kind.signs.is_empty() || kind.signs.contains(sign) || shape.len() == 1;
            (kind.shapes.contains(&shape.as_slice()) && is_signed)
                || around.mentions(&Words::new(kind.words))
        })
        .map(|kind| kind.name)
}

fn is_between(between: &[char]) -> bool {
    matches!(between, [' ' | '-' | '.' | '/' | '+'] | [' ', '-', ' '])
}
