//! A choice is one of the texts that the schema lists. The parser would take `{"chat": null}` for
//! `"chat"` as well; here it is refused, for every choice of every operation.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Error, Value};

/// Whether a choice of this JSON may be spelt as an object; few texts hold what that takes.
pub(crate) fn may_be_objects(json: &[u8]) -> bool {
    std::str::from_utf8(json).is_ok_and(|text| text.contains("null"))
}

/// JSON whose choices are read as text alone.
pub(crate) struct Texts(pub(crate) Value);

impl IntoDeserializer<'_, Error> for Texts {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Texts {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Texts)))
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Texts(value)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(fields) if fields.values().all(Value::is_null) => {
                Err(Error::invalid_type(Unexpected::Map, &"a text"))
            }
            value => value.deserialize_enum(name, variants, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
