//! JSON as a token may spell it: one object whose keys are unique at every depth.
//!
//! Parsers disagree about which of two equal keys counts, and a disagreement about `role` is an
//! attack. So there is no such token.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads an object; `None` when the bytes are anything else or repeat a key.
pub(super) fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice::<Unique>(bytes) {
        Ok(Unique(Value::Object(object))) => Some(object),
        _ => None,
    }
}

/// A value in which no object repeats a key.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, Unique>()? {
            if object.insert(key, value).is_some() {
                return Err(de::Error::custom("a key is repeated"));
            }
        }
        Ok(Value::Object(object))
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
