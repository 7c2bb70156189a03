//! Reads a payload. GitHub names some forty addresses of its API with every repository and a dozen with
//! every person, which is most of what it sends; nobody here follows them, so they are passed over.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// Addresses that lead a person somewhere.
const FOR_PEOPLE: [&str; 4] = ["html_url", "details_url", "target_url", "log_url"];

/// A payload without the addresses of GitHub's API.
pub(super) struct Plain(pub(super) Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Reader.deserialize(deserializer).map(Self)
    }
}

struct Reader;

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            match name {
                Some(name) => {
                    object.insert(name, fields.next_value_seed(Reader)?);
                }
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// A field's name; `None` for one that is passed over.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let is_kept = !name.ends_with("_url") || FOR_PEOPLE.contains(&name);
        Ok(is_kept.then(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_of_the_api_are_passed_over_and_everything_else_is_read() {
        let text = r#"{"a": [1, -2, 2.5, "x\n", null, true, {"keys_url": {"b": [1]}, "html_url": "h"}],
                       "url": "u", "avatar_url": "v", "log_url": "l", "big": 18446744073709551615}"#;
        let Plain(read) = serde_json::from_str(text).expect("it is JSON");
        let expected = json!({
            "a": [1, -2, 2.5, "x\n", null, true, {"html_url": "h"}],
            "url": "u", "log_url": "l", "big": 18_446_744_073_709_551_615_u64,
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_passed_over_must_be_json_too() {
        assert!(serde_json::from_str::<Plain>(r#"{"keys_url": [1,}"#).is_err());
        assert!(serde_json::from_str::<Plain>("{} x").is_err());
        let deep = "[".repeat(200);
        assert!(serde_json::from_str::<Plain>(&deep).is_err());
    }
}
