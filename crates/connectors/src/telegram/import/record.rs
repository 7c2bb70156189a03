//! One message as it stands in the export, read once and without complaint.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::repair;
use super::soft::{SoftNumber, SoftText, Words};

/// A message of an export. Whatever is not there, or has an odd shape, is absent.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) id: Option<i64>,
    pub(super) kind: Option<String>,
    pub(super) date: Option<String>,
    pub(super) date_seconds: Option<i64>,
    pub(super) edited: Option<String>,
    pub(super) edited_seconds: Option<i64>,
    /// `from`, or `actor` of a service message.
    pub(super) sender: Option<String>,
    pub(super) sender_id: Option<String>,
    pub(super) action: Option<String>,
    pub(super) text: String,
    pub(super) reply_to: Option<i64>,
    pub(super) reply_to_peer: Option<String>,
    pub(super) forwarded_from: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) photo: Option<String>,
    pub(super) file: Option<String>,
    pub(super) file_name: Option<String>,
    pub(super) bytes: Option<i64>,
    pub(super) mime_type: Option<String>,
    pub(super) seconds: Option<i64>,
    /// Everything that few messages have.
    pub(super) rest: Map<String, Value>,
}

/// What nobody will ask for: sizes of pictures, thumbnails, buttons, and the text a second time.
const NOISE: [&str; 9] = [
    "text_entities",
    "width",
    "height",
    "thumbnail",
    "thumbnail_file_size",
    "inline_bot_buttons",
    "contact_vcard",
    "contact_vcard_file_size",
    "media_spoiler",
];

/// Why a record cannot be read. It says nothing of what stands in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Record {
    /// Reads a record, mending it where that helps.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let first = match serde_json::from_slice(bytes) {
            Ok(record) => return Ok(record),
            Err(error) => Unreadable { line: error.line(), column: error.column() },
        };
        let mended = repair::mended(bytes);
        mended.and_then(|text| serde_json::from_str(&text).ok()).ok_or(first)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    // Names may come twice: of a web app's data, Telegram Desktop writes `text` two times.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let mut record = Record::default();
        while let Some(key) = map.next_key::<Name<'de>>()? {
            let key: &str = &key.0;
            if !record.set_number(key, &mut map)? && !record.set_text(key, &mut map)? {
                if NOISE.contains(&key) {
                    map.next_value::<IgnoredAny>()?;
                } else {
                    record.rest.insert(key.to_owned(), map.next_value()?);
                }
            }
        }
        Ok(record)
    }
}

impl Record {
    /// Takes a number; whether the name is one of a number.
    fn set_number<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        let field = match key {
            "id" => &mut self.id,
            "date_unixtime" => &mut self.date_seconds,
            "edited_unixtime" => &mut self.edited_seconds,
            "reply_to_message_id" => &mut self.reply_to,
            "file_size" | "photo_file_size" => &mut self.bytes,
            "duration_seconds" => &mut self.seconds,
            _ => return Ok(false),
        };
        *field = map.next_value::<SoftNumber>()?.0;
        Ok(true)
    }

    /// Takes a text; whether the name is one of a text.
    fn set_text<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        let field = match key {
            "text" => {
                let words = map.next_value::<Words>()?.0;
                if !words.is_empty() {
                    self.text = words;
                }
                return Ok(true);
            }
            "forwarded_from" => {
                // Of an account that is gone, only the fact remains.
                let name = map.next_value::<SoftText>()?.0;
                self.forwarded_from = Some(name.unwrap_or_else(|| "a deleted account".to_owned()));
                return Ok(true);
            }
            "type" => &mut self.kind,
            "date" => &mut self.date,
            "edited" => &mut self.edited,
            "from" | "actor" => &mut self.sender,
            "from_id" | "actor_id" => &mut self.sender_id,
            "action" => &mut self.action,
            "reply_to_peer_id" => &mut self.reply_to_peer,
            "media_type" => &mut self.media_type,
            "photo" => &mut self.photo,
            "file" => &mut self.file,
            "file_name" => &mut self.file_name,
            "mime_type" => &mut self.mime_type,
            _ => return Ok(false),
        };
        *field = map.next_value::<SoftText>()?.0;
        Ok(true)
    }
}

/// The name of a field, borrowed where that is possible.
struct Name<'a>(std::borrow::Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(name.into()))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(name.to_owned().into()))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}
