//! Reading JSON that others wrote: what is not there, or not of the shape expected, is absent.

use protocol::Timestamp;
use serde_json::Value;

/// A text that is not empty.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// The elements of a list; none where there is no list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether something is said to be so.
pub(super) fn is(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The moment a `ts` stands for. The `ts` itself stays text, because it is an id of 16 digits.
pub(super) fn moment(ts: &str) -> Option<Timestamp> {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, "0"));
    let is_number = |text: &str| {
        !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let milliseconds: String = fraction.chars().chain("000".chars()).take(3).collect();
    let ms = seconds.parse::<i64>().ok()?.checked_mul(1_000)?;
    ms.checked_add(milliseconds.parse().ok()?).map(Timestamp::from_ms)
}

/// The moment of a `ts` in a field.
pub(super) fn moment_of(value: &Value, name: &str) -> Option<Timestamp> {
    moment(text(value, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ts_is_a_moment() {
        assert_eq!(moment("1434139102.000002"), Some(Timestamp::from_ms(1_434_139_102_000)));
        assert_eq!(moment("1434139102.123456"), Some(Timestamp::from_ms(1_434_139_102_123)));
        assert_eq!(moment("1434139102"), Some(Timestamp::from_ms(1_434_139_102_000)));
        assert_eq!(moment("1434139102.5"), Some(Timestamp::from_ms(1_434_139_102_500)));
    }

    #[test]
    fn what_is_no_ts_is_no_moment() {
        for bad in ["", ".", "1.", ".1", "-1.0", "1e9.0", "99999999999999.0", "1.2.3", "١.0"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }
}
