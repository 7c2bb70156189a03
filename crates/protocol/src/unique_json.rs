//! JSON whose objects have no doubled keys, at any depth.
//!
//! Parsers disagree about which of two equal keys counts; where that could matter there must be none.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A JSON value whose objects have no doubled keys, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct UniqueValue(pub Value);

impl<'de> Deserialize<'de> for UniqueValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UniqueVisitor { whole_numbers: WholeNumbers::Any }.deserialize(deserializer).map(Self)
    }
}

/// The same, and no whole number in it is so large that it would be kept as another one.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactValue(pub Value);

impl<'de> Deserialize<'de> for ExactValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UniqueVisitor { whole_numbers: WholeNumbers::Exact }.deserialize(deserializer).map(Self)
    }
}

/// Which whole numbers are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WholeNumbers {
    /// All; those beyond 64 bits as the nearest number with a fraction.
    Any,
    /// Those that are kept to the digit.
    Exact,
}

#[derive(Clone, Copy)]
struct UniqueVisitor {
    whole_numbers: WholeNumbers,
}

/// From here on a whole number does not fit into 64 bits.
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
/// From here down, and the parser does not take what fits for a fraction.
const TOO_SMALL: f64 = -9_223_372_036_854_775_808.0;

impl<'de> DeserializeSeed<'de> for UniqueVisitor {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        // The parser has made a fraction of what does not fit, and its last digits are gone.
        let is_beyond = value >= TOO_LARGE || value <= TOO_SMALL;
        if self.whole_numbers == WholeNumbers::Exact && is_beyond {
            return Err(E::custom("a number beyond 64 bits would lose digits; send it as text"));
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is not finite"))
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

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key `{key}` stands there twice")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
