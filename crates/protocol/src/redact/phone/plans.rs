//! Country codes, and how many digits follow them.

/// Codes of one and two digits, with the fewest and the most digits that follow.
const PLANS: [(u8, usize, usize); 46] = [
    (1, 10, 10),
    (7, 10, 10),
    (20, 8, 10),
    (27, 9, 9),
    (30, 10, 10),
    (31, 9, 9),
    (32, 8, 9),
    (33, 9, 9),
    (34, 9, 9),
    (36, 8, 9),
    (39, 6, 11),
    (40, 9, 9),
    (41, 9, 9),
    (43, 6, 13),
    (44, 9, 10),
    (45, 8, 8),
    (46, 7, 10),
    (47, 8, 8),
    (48, 9, 9),
    (49, 6, 12),
    (51, 8, 9),
    (52, 10, 11),
    (53, 8, 8),
    (54, 10, 11),
    (55, 10, 11),
    (56, 8, 9),
    (57, 8, 10),
    (58, 10, 10),
    (60, 8, 10),
    (61, 9, 9),
    (62, 8, 12),
    (63, 8, 10),
    (64, 8, 10),
    (65, 8, 8),
    (66, 8, 9),
    (81, 9, 10),
    (82, 8, 10),
    (84, 9, 10),
    (86, 8, 11),
    (90, 10, 10),
    (91, 10, 10),
    (92, 9, 10),
    (93, 9, 9),
    (94, 9, 9),
    (95, 7, 10),
    (98, 10, 10),
];
/// What codes of three digits begin with.
const WIDE: [u8; 23] =
    [21, 22, 23, 24, 25, 26, 29, 35, 37, 38, 42, 50, 59, 67, 68, 69, 80, 85, 87, 88, 96, 97, 99];
const WIDE_DIGITS_MIN: usize = 6;
const WIDE_DIGITS_MAX: usize = 12;

/// Whether digits that begin with a country code are a number there.
pub(super) fn is_valid(number: &[u8]) -> bool {
    let [first, second, ..] = number else { return false };
    let pair = first * 10 + second;
    for (code, least, most) in PLANS {
        let (is_code, length) = if code < 10 { (code == *first, 1) } else { (code == pair, 2) };
        if is_code {
            let rest = number.get(length..).unwrap_or_default();
            // A zero that is dialled only inside the country is often left in.
            let rest = rest.strip_prefix(&[0]).unwrap_or(rest);
            let is_long_enough = (least..=most).contains(&rest.len());
            let is_area = code != 1 || rest.first().is_some_and(|digit| *digit >= 2);
            return is_long_enough && is_area;
        }
    }
    let rest = number.len().saturating_sub(3);
    WIDE.contains(&pair) && (WIDE_DIGITS_MIN..=WIDE_DIGITS_MAX).contains(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(text: &str) -> bool {
        let number: Vec<u8> =
            text.chars().filter_map(|c| c.to_digit(10)).map(|d| u8::try_from(d).unwrap()).collect();
        is_valid(&number)
    }

    #[test]
    fn a_number_has_as_many_digits_as_its_country_gives_out() {
        assert!(valid("1 415 555 0132") && !valid("1 115 555 0132") && !valid("1 000 0000"));
        assert!(valid("49 30 123456") && valid("44 20 7946 0958") && valid("351 912 345 678"));
        assert!(!valid("33 1 23") && !valid("0 30 123456") && !valid("210 12"));
    }
}
