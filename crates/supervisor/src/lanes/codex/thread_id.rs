//! The id of a thread. Nothing else that a registry may hold ever reaches an argument or a path.

use std::fmt;

/// A thread's id: a UUID in its usual, lower-case form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(String);

impl ThreadId {
    /// Reads an id; `None` for anything that is not a UUID.
    pub fn parse(text: &str) -> Option<Self> {
        let is_uuid = text.len() == 36
            && text.bytes().enumerate().all(|(place, byte)| match place {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            });
        is_uuid.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When the thread was made, in milliseconds since 1970: version 7 of these ids says it.
    pub fn made_at_ms(&self) -> Option<u64> {
        if self.0.as_bytes().get(14) != Some(&b'7') {
            return None;
        }
        let digits: String = self.0.chars().filter(|sign| *sign != '-').take(12).collect();
        u64::from_str_radix(&digits, 16).ok()
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_its_thread_was_made() {
        let id = ThreadId::parse("01a1dfac-c6ae-7861-9fab-bcfdd1d9c997").unwrap();
        assert_eq!(id.made_at_ms(), Some(1_794_754_004_654));
        let random = ThreadId::parse("01a1dfac-c6ae-4861-9fab-bcfdd1d9c997").unwrap();
        assert_eq!(random.made_at_ms(), None);
    }

    #[test]
    fn whatever_could_be_an_option_a_path_or_a_command_is_no_id() {
        for text in [
            "",
            "--dangerously-bypass-approvals-and-sandbox",
            "../../../../etc/passwd-aaaaaaaaaaaaaa",
            "01a1dfac-c6ae-7861-9fab-bcfdd1d9c99$",
            "01A1DFAC-C6AE-7861-9FAB-BCFDD1D9C997",
            "01a1dfac-c6ae-7861-9fab-bcfdd1d9c997\n",
            "01a1dfacc6ae-7861-9fab-bcfdd1d9c99-97",
        ] {
            assert_eq!(ThreadId::parse(text), None, "{text:?}");
        }
    }
}
