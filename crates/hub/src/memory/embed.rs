//! Vectors: the built-in one, which needs nothing, and the form in which any is kept.
//!
//! The built-in vector counts runs of three letters in 256 places, chosen by a hash. It knows no
//! meaning, but finds words that are spelled alike: other forms, parts of identifiers, typing errors.

use store::Vector;

/// How the built-in vector is called; another way of making it would get another name.
pub const BUILT_IN: &str = "trigrams-256-1";
const WIDTH: usize = 256;
/// Letters of a text that are looked at.
const CHARS_MAX: usize = 8_192;

/// The built-in vector of a text.
pub fn built_in(text: &str) -> Vector {
    let mut sums = [0.0_f32; WIDTH];
    let folded: Vec<char> = text
        .chars()
        .take(CHARS_MAX)
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    for word in folded.split(|c| *c == ' ').filter(|word| !word.is_empty()) {
        let framed: Vec<char> =
            std::iter::once('^').chain(word.iter().copied()).chain(std::iter::once('$')).collect();
        for run in framed.windows(3.min(framed.len())) {
            let hash = hash(run);
            // One bit of the hash tells the sign, so that runs that meet in one place cancel out.
            let sign = if hash & 1 == 0 { 1.0 } else { -1.0 };
            let place = usize::try_from((hash >> 1) % 256).unwrap_or(0);
            if let Some(sum) = sums.get_mut(place) {
                *sum += sign;
            }
        }
    }
    // What occurs often says less each time.
    for sum in &mut sums {
        *sum = sum.signum() * sum.abs().sqrt();
    }
    Vector { embedding: BUILT_IN.to_owned(), values: quantised(&sums) }
}

/// A vector as it is kept: the longest of its numbers becomes 127.
pub fn quantised(values: &[f32]) -> Vec<i8> {
    let most = values.iter().filter(|v| v.is_finite()).fold(0.0_f32, |most, v| most.max(v.abs()));
    let scale = if most > 0.0 { 127.0 / most } else { 0.0 };
    values
        .iter()
        .map(|value| {
            let scaled = if value.is_finite() { (value * scale).round() } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "it lies between -127 and 127")]
            let kept = scaled.clamp(-127.0, 127.0) as i8;
            kept
        })
        .collect()
}

/// As the store keeps it.
pub(crate) fn bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

/// As the store kept it.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

/// FNV-1a, with its bits mixed once more.
fn hash(run: &[char]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for c in run {
        hash = (hash ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> f64 {
        let (a, b) = (built_in(a).values, built_in(b).values);
        let dot = |a: &[i8], b: &[i8]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt().max(1.0)
    }

    #[test]
    fn words_that_are_spelled_alike_are_near() {
        let same = likeness("deploying the payments service", "payment service deployment");
        let other = likeness("deploying the payments service", "holiday photographs of cats");
        assert!(same > 0.4 && other < 0.25 && same > 2.0 * other, "{same} {other}");
        assert!(likeness("デプロイ手順", "デプロイの手順書") > 0.3);
        assert!((likeness("abc", "abc") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn vectors_of_nothing_and_of_nonsense_are_kept() {
        assert!(built_in("").values.iter().all(|value| *value == 0));
        assert_eq!(quantised(&[f32::NAN, 2.0, -4.0, f32::INFINITY]), [0, 64, -127, 0]);
        assert_eq!(from_bytes(&bytes(&[-127, 0, 127])), [-127, 0, 127]);
    }
}
