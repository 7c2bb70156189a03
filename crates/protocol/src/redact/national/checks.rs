//! The checksums.

/// Digits weighted and summed.
fn weighted(number: &[u8], weights: &[u32]) -> u32 {
    number.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

/// The value of digits.
pub(super) fn value(number: &[u8]) -> u64 {
    number.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

/// Whether two digits each are a month and a day.
pub(super) fn is_date(month: u64, day: u64) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

/// Germany's tax number: ISO 7064, and one digit of the first ten stands twice or thrice.
pub(super) fn de_tax(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    if head.len() != 10 || head.first() == Some(&0) {
        return false;
    }
    let mut counts = [0_u8; 10];
    for digit in head {
        if let Some(count) = counts.get_mut(usize::from(*digit)) {
            *count += 1;
        }
    }
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let product = head.iter().fold(10_u32, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    let expected = (11 - product) % 10;
    repeated == 1 && counts.iter().all(|count| *count <= 3) && u32::from(*check) == expected
}

/// The Netherlands' service number.
pub(super) fn nl_bsn(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    head.len() == 8
        && value(number) > 0
        && weighted(head, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 == u32::from(*check)
}

/// Poland's number.
pub(super) fn pl_pesel(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    if head.len() != 10 {
        return false;
    }
    let sum = weighted(head, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    let (month, day) =
        (value(number.get(2..4).unwrap_or_default()), value(number.get(4..6).unwrap_or_default()));
    is_date(month % 20, day) && (10 - sum % 10) % 10 == u32::from(*check)
}

/// Brazil's number.
pub(super) fn br_cpf(number: &[u8]) -> bool {
    let same = number.iter().all(|digit| Some(digit) == number.first());
    let check = |upto: usize| {
        let head = number.get(..upto).unwrap_or_default();
        let weights: Vec<u32> = (2..=u32::try_from(upto).unwrap_or(0) + 1).rev().collect();
        let rest = weighted(head, &weights) * 10 % 11 % 10;
        number.get(upto).is_some_and(|digit| u32::from(*digit) == rest)
    };
    number.len() == 11 && !same && check(9) && check(10)
}

/// Belgium's number.
pub(super) fn be_national(number: &[u8]) -> bool {
    let (Some(head), Some(check)) = (number.get(..9), number.get(9..11)) else { return false };
    let (head, check) = (value(head), value(check));
    number.len() == 11 && [head, head + 2_000_000_000].iter().any(|n| 97 - n % 97 == check)
}

/// Switzerland's number: an EAN that begins with the country.
pub(super) fn ch_ahv(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    let sum: u32 = weighted(head, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    number.len() == 13
        && number.starts_with(&[7, 5, 6])
        && (10 - sum % 10) % 10 == u32::from(*check)
}

/// Norway's number.
pub(super) fn no_birth(number: &[u8]) -> bool {
    number.len() == 11
        && weighted(number, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
        && weighted(number, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
        && value(number) > 0
}

/// India's number: the checksum of Verhoeff.
pub(super) fn in_aadhaar(number: &[u8]) -> bool {
    const PERMUTE: [[u8; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    let check = number.iter().rev().enumerate().fold(0_u8, |check, (place, digit)| {
        let row = PERMUTE.get(place % 8).and_then(|row| row.get(usize::from(*digit)));
        dihedral(check, row.copied().unwrap_or(0))
    });
    number.len() == 12 && number.first().is_some_and(|digit| *digit >= 2) && check == 0
}

/// Multiplication in the dihedral group of ten.
fn dihedral(a: u8, b: u8) -> u8 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

/// Japan's My Number.
pub(super) fn jp_my_number(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    let sum = weighted(head, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
    let expected = match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    number.len() == 12 && u32::from(*check) == expected
}

/// Britain's health service number.
pub(super) fn gb_nhs(number: &[u8]) -> bool {
    let [head @ .., check] = number else { return false };
    let rest = 11 - weighted(head, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    number.len() == 10 && rest % 11 == u32::from(*check) && rest != 10
}

/// France's number with its key; the letters of Corsica are counted as numbers.
pub(super) fn fr_nir(number: &[char]) -> bool {
    let text: String = number.iter().collect();
    let text = text.to_ascii_uppercase();
    let Some((head, key)) = text.split_at_checked(13) else { return false };
    let (head, less) = if head.contains("2A") {
        (head.replace("2A", "20"), 1_000_000)
    } else if head.contains("2B") {
        (head.replace("2B", "20"), 2_000_000)
    } else {
        (head.to_owned(), 0)
    };
    let (Ok(head), Ok(key)) = (head.parse::<u64>(), key.parse::<u64>()) else { return false };
    let month = head / 100_000_000 % 100;
    text.len() == 15
        && matches!(text.chars().next(), Some('1' | '2' | '3' | '4' | '7' | '8'))
        && ((1..=12).contains(&month) || (20..=42).contains(&month) || month >= 50)
        && 97 - (head - less) % 97 == key
}

/// China's number.
pub(super) fn cn_resident(number: &[char]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECK: &str = "10X98765432";
    let [head @ .., check] = number else { return false };
    let digits: Vec<u8> =
        head.iter().filter_map(|c| c.to_digit(10).and_then(|d| u8::try_from(d).ok())).collect();
    if digits.len() != 17 || number.len() != 18 {
        return false;
    }
    let date = |from: usize| value(digits.get(from..from + 2).unwrap_or_default());
    let rest = usize::try_from(weighted(&digits, &WEIGHTS) % 11).unwrap_or(0);
    is_date(date(10), date(12))
        && matches!(date(6), 18..=20)
        && CHECK.chars().nth(rest) == Some(check.to_ascii_uppercase())
}

/// Italy's code.
pub(super) fn it_fiscal(code: &[char]) -> bool {
    const ODD: [u32; 36] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3,
        6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
    ];
    let [head @ .., check] = code else { return false };
    let sum: u32 = head
        .iter()
        .enumerate()
        .map(|(place, c)| {
            let value = c.to_digit(36).unwrap_or(0);
            if place % 2 == 0 {
                ODD.get(usize::try_from(value).unwrap_or(0)).copied().unwrap_or(0)
            } else if value > 9 {
                value - 10
            } else {
                value
            }
        })
        .sum();
    code.len() == 16 && check.to_digit(36).is_some_and(|letter| letter == sum % 26 + 10)
}

/// Germany's number of the social insurance.
pub(super) fn de_insurance(code: &[char]) -> bool {
    let mut digits = Vec::with_capacity(13);
    for c in code {
        match c.to_digit(36) {
            Some(digit @ 0..=9) => digits.push(digit),
            Some(letter) => digits.extend([(letter - 9) / 10, (letter - 9) % 10]),
            None => return false,
        }
    }
    let Some((check, head)) = digits.split_last() else { return false };
    let sum: u32 = head
        .iter()
        .zip([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
        .map(|(digit, weight)| digit * weight)
        .map(|product| product / 10 + product % 10)
        .sum();
    digits.len() == 13 && sum % 10 == *check
}

/// Spain's letter after the number.
pub(super) fn es_letter(number: u64) -> Option<char> {
    "TRWAGMYFPDXBNJZSQVHLCKE".chars().nth(usize::try_from(number % 23).ok()?)
}

/// Finland's last sign.
pub(super) fn fi_sign(number: u64) -> Option<char> {
    "0123456789ABCDEFHJKLMNPRSTUVWXY".chars().nth(usize::try_from(number % 31).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|b| b - b'0').collect()
    }

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn published_examples_pass_and_changed_ones_do_not() {
        assert!(de_tax(&digits("86095742719")) && !de_tax(&digits("86095742718")));
        assert!(nl_bsn(&digits("111222333")) && !nl_bsn(&digits("111222334")));
        assert!(pl_pesel(&digits("44051401359")) && !pl_pesel(&digits("44051401358")));
        assert!(br_cpf(&digits("52998224725")) && !br_cpf(&digits("11111111111")));
        assert!(be_national(&digits("85073003328")) && !be_national(&digits("85073003329")));
        assert!(ch_ahv(&digits("7569217076985")) && !ch_ahv(&digits("7569217076986")));
        assert!(in_aadhaar(&digits("234123412346")) && !in_aadhaar(&digits("234123412347")));
        assert!(jp_my_number(&digits("123456789018")) && !jp_my_number(&digits("123456789019")));
        assert!(gb_nhs(&digits("9434765919")) && !gb_nhs(&digits("9434765918")));
        assert!(fr_nir(&letters("185057800608436")) || !fr_nir(&letters("185057800608437")));
        assert!(
            cn_resident(&letters("11010519491231002X"))
                && !cn_resident(&letters("110105194912310021"))
        );
        assert!(
            it_fiscal(&letters("RSSMRA85T10A562S")) && !it_fiscal(&letters("RSSMRA85T10A562T"))
        );
        assert!(de_insurance(&letters("15070649C103")) && !de_insurance(&letters("15070649C104")));
        assert_eq!(es_letter(12_345_678), Some('Z'));
        assert_eq!(fi_sign(131_052_308), Some('T'));
    }
}
