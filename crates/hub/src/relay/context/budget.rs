//! What a context comes to, in tokens, without asking any model.

use schemars::JsonSchema;
use serde::Serialize;

/// How tokens are estimated: bytes divided by this, in tenths. On English, code and JSON it is rarely too
/// low, and never by more than a tenth.
const BYTES_PER_TOKEN_TENTHS: u64 = 35;
/// What that is called.
const METHOD: &str = "bytes/3.5";

/// What a context comes to, and what was left out so that it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// What it comes to, in tokens.
    pub estimate: u64,
    /// How that was reckoned.
    pub method: String,
    /// What it may come to.
    pub limit: u64,
    /// What made the session layer: `whole` for every turn, `quoted`, or `model:` and a name; none where
    /// there is no such layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What was left out, in the order in which it was.
    pub dropped: Vec<Dropped>,
}

/// Something that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dropped {
    /// The layer: `session`, `tools`, `refs` or `task`.
    pub layer: String,
    /// What of it.
    pub what: String,
    /// How many bytes that saved.
    pub bytes: u64,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { method: METHOD.to_owned(), limit, ..Self::default() }
    }

    pub(super) fn drop(&mut self, layer: &str, what: impl Into<String>, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.dropped.push(Dropped { layer: layer.to_owned(), what: what.into(), bytes });
    }
}

/// How many tokens so many bytes are.
pub(super) fn estimate(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(10).div_ceil(BYTES_PER_TOKEN_TENTHS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_rounded_up() {
        assert_eq!([0, 1, 3, 4, 7, 8].map(estimate), [0, 1, 1, 2, 2, 3]);
    }
}
