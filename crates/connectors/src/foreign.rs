//! Reading JSON that somebody else wrote: a field of the wrong sort is a field that is not there.
//!
//! Services add fields and change their sort without asking. One odd field must not cost a message,
//! so nothing here fails.

use protocol::Timestamp;
use protocol::limits::chats as limits;
use serde_json::Value;

/// The last moment of the year 9999. What lies beyond is a mistake, or malice.
const MOMENT_MS_MAX: i64 = 253_402_300_799_999;

/// Reading fields by name.
pub(crate) trait Foreign {
    /// A text that is not empty.
    fn text(&self, name: &str) -> Option<&str>;
    /// A whole number, also where it is written as text.
    fn number(&self, name: &str) -> Option<i64>;
    /// Whether something is said to be so.
    fn is_set(&self, name: &str) -> bool;
    /// An object.
    fn object(&self, name: &str) -> Option<&Value>;
    /// A list; empty where there is none.
    fn list(&self, name: &str) -> &[Value];
}

impl Foreign for Value {
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Self::Number(number) => number.as_i64(),
            Self::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).and_then(Self::as_bool).unwrap_or(false)
    }

    fn object(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| value.is_object())
    }

    fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Self::as_array).map_or(&[], Vec::as_slice)
    }
}

/// A moment in milliseconds, if it is one that can be.
pub(crate) fn moment_ms(ms: i64) -> Option<Timestamp> {
    (1..=MOMENT_MS_MAX).contains(&ms).then(|| Timestamp::from_ms(ms))
}

/// A moment in seconds, if it is one that can be.
pub(crate) fn moment_seconds(seconds: i64) -> Option<Timestamp> {
    seconds.checked_mul(1_000).and_then(moment_ms)
}

/// What a service said of a refusal, short enough to pass on.
pub(crate) fn refusal(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control()).take(limits::REFUSAL_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_of_the_wrong_sort_is_not_there() {
        let value = json!({"name": 7, "at": [], "list": "x", "on": "yes", "object": [1]});
        assert_eq!(value.text("name"), None);
        assert_eq!(value.number("at"), None);
        assert!(value.list("list").is_empty());
        assert!(!value.is_set("on"));
        assert_eq!(value.object("object"), None);
    }

    #[test]
    fn a_number_may_be_written_as_text() {
        let value = json!({"a": "1697043223", "b": 1_697_043_223, "c": "soon"});
        assert_eq!(value.number("a"), value.number("b"));
        assert_eq!(value.number("c"), None);
    }

    #[test]
    fn impossible_moments_are_none() {
        assert_eq!(moment_ms(0), None);
        assert_eq!(moment_ms(i64::MAX), None);
        assert_eq!(moment_seconds(i64::MAX), None);
        assert_eq!(moment_seconds(-1), None);
        assert_eq!(moment_seconds(2), Some(Timestamp::from_ms(2_000)));
    }
}
