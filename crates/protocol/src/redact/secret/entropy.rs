//! How much a text looks as if it had been drawn by lot.

/// Bits for each sign, by how often each occurs.
pub(super) fn bits(text: &[char]) -> f64 {
    let mut counts = [0_u32; 128];
    for c in text {
        let place = usize::try_from(u32::from(*c)).unwrap_or(0) % 128;
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(text.len().max(1)).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

/// Which of small letters, capitals, digits and signs occur.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about a text")]
pub(super) struct Mix {
    pub(super) small: bool,
    pub(super) capital: bool,
    pub(super) digit: bool,
    pub(super) sign: bool,
}

impl Mix {
    pub(super) fn of(text: &[char]) -> Self {
        let has = |pass: fn(&char) -> bool| text.iter().any(pass);
        Self {
            small: has(char::is_ascii_lowercase),
            capital: has(char::is_ascii_uppercase),
            digit: has(char::is_ascii_digit),
            sign: text.iter().any(|c| !c.is_alphanumeric()),
        }
    }

    /// How many kinds occur.
    pub(super) fn kinds(self) -> usize {
        [self.small, self.capital, self.digit, self.sign].iter().filter(|has| **has).count()
    }
}
