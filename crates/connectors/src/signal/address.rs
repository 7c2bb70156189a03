//! Who somebody is at Signal: a UUID that stays, and perhaps a number, a name, a handle.

use protocol::chat::{Alias, PersonFact};
use serde_json::Value;

use crate::foreign::Foreign;

/// A person as an envelope names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The UUID, or the number where there is none.
    pub(super) id: String,
    /// The number.
    pub(super) number: Option<String>,
}

impl Address {
    /// Reads `{prefix}Uuid` and `{prefix}Number`, such as `sourceUuid`, or `{prefix}` of old.
    pub(super) fn read(value: &Value, prefix: &str) -> Option<Self> {
        let number = value
            .text(&format!("{prefix}Number"))
            .or_else(|| value.text(prefix).filter(|old| is_number(old)));
        let uuid = value
            .text(&format!("{prefix}Uuid"))
            .or_else(|| value.text(prefix).filter(|old| is_uuid(old)));
        Self::of(uuid, number)
    }

    /// Reads `uuid` and `number`.
    pub(super) fn plain(value: &Value) -> Option<Self> {
        Self::of(value.text("uuid"), value.text("number"))
    }

    fn of(uuid: Option<&str>, number: Option<&str>) -> Option<Self> {
        let id = uuid.or(number)?.to_owned();
        Some(Self { id, number: number.map(str::to_owned) })
    }

    /// The person, as far as this says.
    pub(super) fn person(&self, name: Option<&str>) -> PersonFact {
        let mut aliases = Vec::new();
        if is_uuid(&self.id) {
            aliases.push(Alias::Uuid(self.id.clone()));
        }
        if let Some(number) = &self.number {
            aliases.push(Alias::Phone(number.clone()));
        }
        PersonFact {
            person_id: self.id.clone(),
            name: name.map(str::to_owned),
            aliases,
            is_self: false,
        }
    }

    /// The id of a message of this person's: nobody sends two in the same millisecond.
    pub(super) fn message_id(&self, sent_ms: i64) -> String {
        format!("{}:{sent_ms}", self.id)
    }
}

/// Whether a text looks like a UUID.
pub(super) fn is_uuid(text: &str) -> bool {
    let is_in_place = |(at, sign): (usize, char)| match at {
        8 | 13 | 18 | 23 => sign == '-',
        _ => sign.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.chars().enumerate().all(is_in_place)
}

/// Whether a text looks like a telephone number. A group's id may begin with a plus sign too.
pub(super) fn is_number(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UUID: &str = "a1b2c3d4-0000-4000-8000-00000000000a";

    #[test]
    fn the_uuid_comes_before_the_number() {
        let envelope = json!({"sourceUuid": UUID, "sourceNumber": "+4915112345678"});
        let address = Address::read(&envelope, "source").unwrap();
        assert_eq!(address.id, UUID);
        assert_eq!(
            address.person(Some("Antti")).aliases,
            [Alias::Uuid(UUID.to_owned()), Alias::Phone("+4915112345678".to_owned())]
        );
    }

    #[test]
    fn an_old_daemon_says_only_source() {
        let number = Address::read(&json!({"source": "+4915112345678"}), "source").unwrap();
        assert_eq!((number.id.as_str(), number.number.is_some()), ("+4915112345678", true));
        let uuid = Address::read(&json!({"source": UUID}), "source").unwrap();
        assert_eq!((uuid.id.as_str(), uuid.number), (UUID, None));
        assert_eq!(Address::read(&json!({"source": null}), "source"), None);
    }

    #[test]
    fn a_group_id_is_neither_number_nor_uuid() {
        for group in ["+mpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=", "+", "PLraV/rOQu4="] {
            assert!(!is_number(group) && !is_uuid(group), "{group}");
        }
    }
}
