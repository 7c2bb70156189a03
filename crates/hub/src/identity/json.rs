//! JSON as a token may spell it: one object whose keys are unique at every depth.
//!
//! Parsers disagree about which of two equal keys counts, and a disagreement about `role` is an
//! attack. So there is no such token.

use protocol::unique_json::UniqueValue;
use serde_json::{Map, Value};

/// Reads an object; `None` when the bytes are anything else or repeat a key.
pub(super) fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice::<UniqueValue>(bytes) {
        Ok(UniqueValue(Value::Object(object))) => Some(object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,0.5,null,true,"x"],"b":{"c":{}}}"#;
        assert_eq!(Value::Object(object(text.as_bytes()).unwrap()).to_string(), text);
    }

    #[test]
    fn a_repeated_key_is_refused_at_every_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":[{"b":1,"b":2}]}"#,
        ] {
            assert!(object(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn only_one_whole_object_counts() {
        for text in ["", "[]", "1", "null", "{} {}", "{", r#"{"a":1e999}"#, "{\"a\":\"\u{7f}"] {
            assert!(object(text.as_bytes()).is_none(), "{text}");
        }
        assert!(object("[".repeat(4000).as_bytes()).is_none());
        assert!(object(b"{\"a\":\"\xff\"}").is_none());
    }
}
