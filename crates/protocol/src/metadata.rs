//! Metadata: a JSON object as its sender gave it, without doubled keys, in one canonical spelling.

use schemars::JsonSchema;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::limits;
use crate::unique_json::ExactValue;
use crate::validate::{self, Invalid};

/// A JSON object without doubled keys, whose numbers are kept as they were given. Keys print sorted, so
/// equal objects print alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// The canonical spelling.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.0).expect("a JSON object prints as JSON")
    }

    /// A field that is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    /// A field.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The object itself.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Checks size and characters of the canonical spelling.
    pub fn check(&self, text: &str) -> Result<(), Invalid> {
        if self.0.len() > limits::METADATA_KEYS_MAX {
            return Err(Invalid(format!("must have at most {} keys", limits::METADATA_KEYS_MAX)));
        }
        if text.len() > limits::METADATA_BYTES_MAX {
            return Err(Invalid(format!("must have at most {} bytes", limits::METADATA_BYTES_MAX)));
        }
        // Most texts do not even look as if; those that do may only spell it out.
        if text.contains("\\u0000") {
            return self.0.iter().try_for_each(|(key, value)| entry_without_nul(key, value));
        }
        Ok(())
    }
}

fn entry_without_nul(key: &str, value: &Value) -> Result<(), Invalid> {
    validate::without_nul(key)?;
    value_without_nul(value)
}

fn value_without_nul(value: &Value) -> Result<(), Invalid> {
    match value {
        Value::String(text) => validate::without_nul(text),
        Value::Array(items) => items.iter().try_for_each(value_without_nul),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| entry_without_nul(key, value)),
        _ => Ok(()),
    }
}

impl From<Map<String, Value>> for Metadata {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl JsonSchema for Metadata {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metadata".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "maxProperties": limits::METADATA_KEYS_MAX })
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match ExactValue::deserialize(deserializer)?.0 {
            Value::Object(map) => Ok(Self(map)),
            _ => Err(de::Error::custom("expected an object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_objects_print_alike() {
        let one: Metadata =
            serde_json::from_str(r#"{"b":1,"a":{"d":[null,1.5],"c":"x"}}"#).unwrap();
        let two: Metadata =
            serde_json::from_str(r#"{ "a": {"c":"x","d":[null,1.5]}, "b": 1 }"#).unwrap();
        assert_eq!(one.to_text(), two.to_text());
        assert_eq!(one.to_text(), r#"{"a":{"c":"x","d":[null,1.5]},"b":1}"#);
    }

    #[test]
    fn doubled_keys_are_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"a":2}]}"#] {
            let error = serde_json::from_str::<Metadata>(text).unwrap_err().to_string();
            assert!(error.contains("`a` stands there twice"), "{error}");
        }
    }

    #[test]
    fn numbers_are_kept_as_they_were_given_or_refused() {
        for text in [
            r#"{"a":[18446744073709551615,-9223372036854775808,0]}"#,
            r#"{"a":[31.245270191439438,121.48791951161945,0.1,5e-324,-1.5e+18]}"#,
        ] {
            let metadata: Metadata = serde_json::from_str(text).unwrap();
            assert_eq!(metadata.to_text(), text);
        }
        for number in ["12345678901234567890123", "18446744073709551616", "-9223372036854775809"] {
            for text in [format!(r#"{{"a":{number}}}"#), format!(r#"{{"a":[{{"b":{number}}}]}}"#)] {
                let error = serde_json::from_str::<Metadata>(&text).unwrap_err().to_string();
                assert!(error.contains("send it as text"), "{text}: {error}");
            }
        }
    }

    #[test]
    fn a_nul_is_refused_and_its_spelling_is_not() {
        let check = |text: &str| {
            let metadata: Metadata = serde_json::from_str(text).unwrap();
            metadata.check(&metadata.to_text())
        };
        assert!(check(r#"{"a":"\\u0000"}"#).is_ok());
        for text in
            [r#"{"a":"\u0000"}"#, r#"{"a\u0000":1}"#, r#"{"a":[{"b":["\\u0000","x\u0000"]}]}"#]
        {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_an_object_will_do() {
        for text in ["[]", "1", "null", "\"x\""] {
            assert!(serde_json::from_str::<Metadata>(text).is_err(), "{text}");
        }
    }
}
