//! Values that are taken if they have the right shape, and left if not: one odd field must not cost a
//! message.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, or a number written as one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SoftText(pub(super) Option<String>);

/// A whole number, or a text that is one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SoftNumber(pub(super) Option<i64>);

/// Words: a text, or a list of texts and of `{type, text, href}`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) String);

macro_rules! leaves_other_shapes {
    ($name:ident) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }

        fn visit_bool<E>(self, _: bool) -> Result<$name, E> {
            Ok($name::default())
        }

        fn visit_unit<E>(self) -> Result<$name, E> {
            Ok($name::default())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($name::default())
        }
    };
}

macro_rules! leaves_lists {
    ($name:ident) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<$name, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok($name::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = SoftText;
    leaves_other_shapes!(SoftText);
    leaves_lists!(SoftText);

    fn visit_str<E>(self, text: &str) -> Result<SoftText, E> {
        Ok(SoftText(Some(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<SoftText, E> {
        Ok(SoftText(Some(text)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<SoftText, E> {
        Ok(SoftText(Some(number.to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<SoftText, E> {
        Ok(SoftText(Some(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<SoftText, E> {
        Ok(SoftText(None))
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = SoftNumber;
    leaves_other_shapes!(SoftNumber);
    leaves_lists!(SoftNumber);

    fn visit_str<E>(self, text: &str) -> Result<SoftNumber, E> {
        Ok(SoftNumber(text.trim().parse().ok()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<SoftNumber, E> {
        Ok(SoftNumber(Some(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<SoftNumber, E> {
        Ok(SoftNumber(i64::try_from(number).ok()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<SoftNumber, E> {
        Ok(SoftNumber(None))
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;
    leaves_other_shapes!(Words);

    fn visit_str<E>(self, text: &str) -> Result<Words, E> {
        Ok(Words(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Words, E> {
        Ok(Words(text))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Words, E> {
        Ok(Words(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Words, E> {
        Ok(Words(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Words, E> {
        Ok(Words(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        let mut words = String::new();
        while let Some(Part(part)) = list.next_element()? {
            words.push_str(&part);
        }
        Ok(Words(words))
    }
}

/// One part of a text with formats in it.
#[derive(Default)]
struct Part(String);

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Part, E> {
        Ok(Part::default())
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::default())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Part, E> {
        Ok(Part(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Part, E> {
        Ok(Part(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Part, E> {
        Ok(Part(number.to_string()))
    }

    leaves_lists!(Part);

    fn visit_str<E>(self, text: &str) -> Result<Part, E> {
        Ok(Part(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Part, E> {
        Ok(Part(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let (mut words, mut href) = (String::new(), None);
        while let Some(SoftText(key)) = map.next_key()? {
            match key.as_deref() {
                Some("text") => words = map.next_value::<SoftText>()?.0.unwrap_or_default(),
                Some("href") => href = map.next_value::<SoftText>()?.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        // A hidden address is shown, as it is for messages that arrive live.
        match href {
            Some(href) if !href.is_empty() && href != words => {
                words.push_str(" (");
                words.push_str(&href);
                words.push(')');
            }
            _ => {}
        }
        Ok(Part(words))
    }
}

macro_rules! softly {
    ($name:ident, $visitor:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

softly!(SoftText, TextVisitor);
softly!(SoftNumber, NumberVisitor);
softly!(Words, WordsVisitor);
softly!(Part, PartVisitor);
