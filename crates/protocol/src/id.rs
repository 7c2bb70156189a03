//! Ids: sixteen bytes that begin with the time, spelled with a prefix (`th_…`, `msg_…`) or as a UUID.
//!
//! Time first keeps index pages warm; the version and variant bits make every id a valid UUIDv4 too.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TEXT_LEN: usize = 26;

/// The sixteen bytes behind every id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid([u8; 16]);

impl Uid {
    /// Builds an id from the time and ten random bytes.
    pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
        let ms = at.as_ms().max(0).unsigned_abs();
        let mut bytes = [0; 16];
        let (time, rest) = bytes.split_at_mut(6);
        time.copy_from_slice(ms.to_be_bytes().get(2..).unwrap_or_default());
        rest.copy_from_slice(&random);
        let mut value = u128::from_be_bytes(bytes);
        // The version (4) and variant (binary 10) of a UUID.
        value = (value & !(0xf << 76)) | (0x4 << 76);
        value = (value & !(0b11 << 62)) | (0b10 << 62);
        Self(value.to_be_bytes())
    }

    /// Wraps stored bytes; `None` unless there are sixteen.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The hyphenated UUID spelling, used by envelopes and transactions.
    pub fn to_uuid(self) -> String {
        let hex = format!("{:032x}", u128::from_be_bytes(self.0));
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
    }

    fn from_text(text: &str) -> Option<Self> {
        if text.len() != TEXT_LEN {
            return None;
        }
        let mut value: u128 = 0;
        for (position, symbol) in text.bytes().enumerate() {
            let digit = ALPHABET.iter().position(|known| *known == symbol.to_ascii_uppercase())?;
            if position == 0 && digit > 7 {
                return None;
            }
            value = (value << 5) | u128::try_from(digit).ok()?;
        }
        Some(Self(value.to_be_bytes()))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = u128::from_be_bytes(self.0);
        let mut text = [b'0'; TEXT_LEN];
        for (position, slot) in text.iter_mut().enumerate() {
            let shift = 5 * (TEXT_LEN - 1 - position);
            let digit = usize::try_from((value >> shift) & 31).unwrap_or(0);
            *slot = ALPHABET.get(digit).copied().unwrap_or(b'0');
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an id of this kind is `{prefix}` and 26 letters or digits")]
pub struct MalformedId {
    prefix: &'static str,
}

macro_rules! id_type {
    ($name:ident, $prefix:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uid);

        impl $name {
            /// What the text spelling begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Builds an id from the time and ten random bytes.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                Self(Uid::new(at, random))
            }

            /// The stored form.
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_bytes()
            }

            /// Wraps stored bytes; `None` unless there are sixteen.
            pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
                Uid::from_bytes(bytes).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = MalformedId;

            fn from_str(text: &str) -> Result<Self, MalformedId> {
                text.strip_prefix($prefix)
                    .and_then(Uid::from_text)
                    .map(Self)
                    .ok_or(MalformedId { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

id_type!(ThreadId, "th_", "The id of a thread, `th_…`.");
id_type!(
    MessageId,
    "msg_",
    "The id of a message, `msg_…`: when it was taken, its thread's row and its number, packed. \
     It is never stored and needs no index: it names the place where the message stands."
);
id_type!(WakeId, "wk_", "The id of a wake, `wk_…`; every notice carries its own.");
id_type!(
    RequestId,
    "req_",
    "The id of one request, `req_…`, carried by every answer and log line."
);
id_type!(DeliveryId, "dlv_", "The id of something a service said, `dlv_…`.");
id_type!(WorkId, "work_", "The id of a piece of work for an agent, `work_…`.");
id_type!(TaskId, "task_", "The id of a task, `task_…`: it stitches messages of one job together.");
id_type!(OutboxId, "out_", "The id of an action on its way to a service, `out_…`.");
id_type!(ProposalId, "prop_", "The id of an action that waits for a human, `prop_…`.");
id_type!(MemoryId, "mem_", "The id of something that is remembered, `mem_…`.");
id_type!(PieceId, "ref_", "The id of a piece of a document, `ref_…`: what `[[ref:…]]` cites.");
id_type!(ToolCallId, "call_", "The id of a call of a tool, `call_…`.");
id_type!(TokenId, "jti_", "The id of an issued token: its `jti` claim.");

/// The highest thread row and the highest number that a message id can name.
const PART_MAX: i64 = (1 << 40) - 1;

impl MessageId {
    /// Packs the place of a message; `None` beyond a million million threads or messages.
    pub fn at(created: Timestamp, thread_row: i64, seq: i64) -> Option<Self> {
        let fits = |part: i64| (0..=PART_MAX).contains(&part);
        let ms = created.as_ms();
        if !fits(thread_row) || !fits(seq) || !(0..1 << 42).contains(&ms) {
            return None;
        }
        let wide = |part: i64| u128::from(part.unsigned_abs());
        // 122 bits of payload around the six that make it a UUIDv4.
        let payload = (wide(ms) << 80) | (wide(thread_row) << 40) | wide(seq);
        let high = payload >> 74;
        let middle = (payload >> 62) & 0xfff;
        let low = payload & ((1 << 62) - 1);
        let value = (high << 80) | (0x4 << 76) | (middle << 64) | (0b10 << 62) | low;
        Some(Self(Uid(value.to_be_bytes())))
    }

    /// When the message was taken, its thread's row and its number.
    pub fn place(self) -> (Timestamp, i64, i64) {
        let value = u128::from_be_bytes(self.0.0);
        let payload =
            ((value >> 80) << 74) | (((value >> 64) & 0xfff) << 62) | (value & ((1 << 62) - 1));
        let part = |bits: u128| i64::try_from(bits).unwrap_or(i64::MAX);
        let mask = u128::from(PART_MAX.unsigned_abs());
        let ms = part(payload >> 80);
        (Timestamp::from_ms(ms), part((payload >> 40) & mask), part(payload & mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ThreadId {
        ThreadId::new(Timestamp::from_ms(1_771_329_600_000), [0xff; 10])
    }

    #[test]
    fn an_id_survives_its_text() {
        let id = sample();
        assert_eq!(id.to_string().parse::<ThreadId>(), Ok(id));
        assert_eq!(id.to_string().to_lowercase().parse(), Ok(id));
    }

    #[test]
    fn an_id_is_a_version_four_uuid() {
        let uuid = sample().0.to_uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(matches!(uuid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }

    #[test]
    fn a_message_id_names_its_place() {
        for (ms, thread, seq) in
            [(1_771_329_600_123, 7, 27), (0, 0, 0), ((1 << 42) - 1, PART_MAX, PART_MAX)]
        {
            let created = Timestamp::from_ms(ms);
            let id = MessageId::at(created, thread, seq).unwrap();
            assert_eq!(id.place(), (created, thread, seq));
            assert_eq!(id.to_string().parse::<MessageId>(), Ok(id));
            assert_eq!(id.0.to_uuid().as_bytes()[14], b'4');
            assert!(matches!(id.0.to_uuid().as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        }
        assert_eq!(MessageId::at(Timestamp::from_ms(0), PART_MAX + 1, 0), None);
    }

    #[test]
    fn ids_sort_by_time() {
        let early = ThreadId::new(Timestamp::from_ms(1), [0xff; 10]);
        let late = ThreadId::new(Timestamp::from_ms(2), [0; 10]);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "th_", "msg_01JXYZ", "th_01JXYZ", "th_ZZZZZZZZZZZZZZZZZZZZZZZZZZ"] {
            assert!(text.parse::<ThreadId>().is_err(), "{text}");
        }
    }
}
