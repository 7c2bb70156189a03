//! Values with their checksums.

use super::lot::{LARGE, LETTERS, Lot, SMALL};

/// Joins parts of so many signs.
fn grouped(text: &str, sizes: &[usize], sign: &str) -> String {
    let mut rest = text;
    let mut parts = Vec::new();
    for size in sizes {
        let (head, tail) = rest.split_at((*size).min(rest.len()));
        parts.push(head);
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts.join(sign)
}

pub(super) fn card(lot: &mut Lot) -> String {
    let start = lot.pick(&[
        "4", "4", "51", "52", "55", "2221", "2720", "34", "37", "6011", "65", "3528", "3589", "36",
        "62", "5018", "6759",
    ]);
    let length = match start {
        "34" | "37" => 15,
        "36" => 14,
        _ => 16,
    };
    let body = format!("{start}{}", lot.digits(length - 1 - start.len()));
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let doubled = u32::from(byte - b'0') << ((place + 1) % 2);
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    let number = format!("{body}{}", (10 - sum % 10) % 10);
    if lot.happens(40) {
        return number;
    }
    let sign = lot.pick(&[" ", "-", ".", "\u{a0}", "\u{2011}"]);
    let sizes: &[usize] = if length == 16 { &[4, 4, 4, 4] } else { &[4, 6] };
    grouped(&number, sizes, sign)
}

pub(super) fn iban(lot: &mut Lot) -> String {
    let country = lot.pick(&[
        "DE", "FR", "ES", "PL", "GB", "NL", "IT", "AT", "CH", "BE", "SE", "PT", "NO", "FI",
    ]);
    let body = match country {
        "DE" => lot.digits(18),
        "FR" => lot.digits(23),
        "ES" | "SE" => lot.digits(20),
        "PL" => lot.digits(24),
        "GB" => format!("{}{}", lot.signs(4, LARGE), lot.digits(14)),
        "NL" => format!("{}{}", lot.signs(4, LARGE), lot.digits(10)),
        "IT" => format!("{}{}", lot.signs(1, LARGE), lot.digits(22)),
        "AT" => lot.digits(16),
        "CH" => lot.digits(17),
        "BE" => lot.digits(12),
        "PT" => lot.digits(21),
        "NO" => lot.digits(11),
        _ => lot.digits(14),
    };
    let rest = format!("{body}{country}00").chars().fold(0_u32, |rest, c| {
        let value = c.to_digit(36).unwrap_or(0);
        (if value > 9 { rest * 100 } else { rest * 10 } + value) % 97
    });
    let number = format!("{country}{:02}{body}", 98 - rest);
    match lot.below(10) {
        0..=3 => number,
        4 => number.to_lowercase(),
        _ => grouped(&number, &[4; 9], lot.pick(&[" ", "-", "\u{a0}"])).trim_end().to_owned(),
    }
}

/// A number of the social security, and whether it stands without signs.
pub(super) fn ssn(lot: &mut Lot) -> String {
    let area = match lot.between(1, 898) {
        666.. => lot.between(667, 899),
        area => area,
    };
    let (group, serial) = (lot.between(1, 99), lot.between(1, 9_999));
    let sign = lot.pick(&["-", "-", "-", "-", " ", ".", "\u{2013}", ""]);
    format!("{area:03}{sign}{group:02}{sign}{serial:04}")
}

pub(super) fn ip(lot: &mut Lot) -> String {
    if lot.happens(65) {
        let start = match lot.below(4) {
            0 => "192.168".to_owned(),
            1 => format!("10.{}", lot.below(256)),
            _ => format!("{}.{}", lot.between(1, 223), lot.below(256)),
        };
        return format!("{start}.{}.{}", lot.below(256), lot.between(1, 254));
    }
    let head = lot.pick(&["2001:db8", "fe80", "2a02:8108", "fd00:1234"]);
    let part = |lot: &mut Lot| format!("{:x}", lot.between(0x10, 0xffff));
    match lot.below(3) {
        0 => format!("{head}::{}", part(lot)),
        1 => format!("{head}::{}:{}", part(lot), part(lot)),
        _ => format!("{head}::{}:{}:{}", part(lot), part(lot), part(lot)).to_uppercase(),
    }
}

pub(super) fn email(lot: &mut Lot, spaced: bool) -> String {
    let first = lot.pick(&[
        "anna", "jan", "pierre", "carlos", "bob", "yuki", "zofia", "lucia", "mary-ann", "josé",
    ]);
    let last = lot
        .pick(&["smith", "mueller", "dupont", "garcia", "kowalski", "tanaka", "o_brien", "nowak"]);
    let name = match lot.below(5) {
        0 => format!("{first}.{last}"),
        1 => format!("{first}{}", lot.digits(3)),
        2 => format!("{first}+{}", lot.signs(5, SMALL)),
        3 => format!("{last}_{}", lot.digits(2)),
        _ => lot.signs(8, LETTERS),
    };
    let host = lot.pick(&[
        "example",
        "mail.example",
        "firma",
        "corp-mail",
        "gmail",
        "uni-berlin",
        "proton",
    ]);
    let ending = lot.pick(&[
        "com", "org", "net", "de", "fr", "es", "pl", "co.jp", "co.uk", "io", "museum", "dev",
    ]);
    let ascii = name.replace('é', "e");
    match lot.below(20) {
        0 => format!("{name}@{host}.{ending}").to_uppercase(),
        1 => format!("{ascii}%40{host}.{ending}"),
        2 => format!("{ascii}＠{host}.{ending}"),
        3 if spaced => format!("{ascii} (at) {host}.{ending}"),
        4 if spaced => format!("{ascii} [at] {} [dot] com", host.replace('.', " [dot] ")),
        5 if spaced => format!("{ascii} at {} dot org", host.replace('.', " dot ")),
        _ => format!("{name}@{host}.{ending}"),
    }
}
