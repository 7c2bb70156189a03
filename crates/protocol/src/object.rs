//! Reading objects as objects: whatever else has the right number of values is refused.
//!
//! Derived readers take a list for a struct, field by field; a client that sends one has made a mistake.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads an object, and nothing else: for `deserialize_with`.
pub fn object<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_map(Object(PhantomData))
}

/// The same where there may be none.
pub fn optional<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Item<T>>::deserialize(from)?.map(|Item(item)| item))
}

/// Reads a list of objects.
pub fn objects<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let read = Vec::<Item<T>>::deserialize(from)?;
    Ok(read.into_iter().map(|Item(item)| item).collect())
}

struct Item<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        object(from).map(Self)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Inner {
        name: Option<String>,
    }

    #[derive(Debug, Deserialize)]
    struct Outer {
        #[serde(deserialize_with = "object")]
        one: Inner,
        #[serde(default, deserialize_with = "objects")]
        all: Vec<Inner>,
        #[serde(default, deserialize_with = "optional")]
        may_be: Option<Inner>,
    }

    #[test]
    fn a_list_is_no_object() {
        let good: Outer = serde_json::from_str(r#"{"one":{"name":"a"},"all":[{}]}"#).unwrap();
        assert_eq!((good.one.name.as_deref(), good.all.len()), (Some("a"), 1));
        assert_eq!(good.may_be, None);
        for (may_be, expected) in [("null", None), ("{}", Some(Inner::default()))] {
            let good: Outer =
                serde_json::from_str(&format!(r#"{{"one":{{}},"may_be":{may_be}}}"#)).unwrap();
            assert_eq!(good.may_be, expected);
        }
        for bad in [
            r#"{"one":[]}"#,
            r#"{"one":{},"all":[[null]]}"#,
            r#"{"one":"a"}"#,
            r#"{"one":{},"may_be":[]}"#,
        ] {
            let error = serde_json::from_str::<Outer>(bad).unwrap_err();
            assert!(error.to_string().contains("expected an object"), "{error}");
        }
    }
}
