//! Looking into JSON of which nothing is certain.

use protocol::Timestamp;
use serde_json::Value;

/// A text.
pub(in super::super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A whole number.
pub(in super::super) fn integer(value: &Value, key: &str) -> Option<i64> {
    value.get(key)?.as_i64()
}

/// A number that is not negative and not large.
pub(in super::super) fn count(value: &Value, key: &str) -> Option<u32> {
    value.get(key)?.as_u64().map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// A list; empty where there is none.
pub(in super::super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether something is said to be so.
pub(in super::super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A moment, in seconds since 1970. Zero stands for a message that cannot be seen.
pub(in super::super) fn moment(value: &Value, key: &str) -> Option<Timestamp> {
    let seconds = integer(value, key).filter(|seconds| *seconds > 0)?;
    seconds.checked_mul(1000).map(Timestamp::from_ms)
}

/// The name of a user or of a chat.
pub(in super::super) fn name_of(value: &Value) -> Option<String> {
    if let Some(title) = text(value, "title") {
        return Some(title.to_owned());
    }
    let parts = [text(value, "first_name"), text(value, "last_name")];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" ").trim().to_owned();
    if name.is_empty() { text(value, "username").map(str::to_owned) } else { Some(name) }
}
