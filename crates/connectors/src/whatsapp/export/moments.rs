//! Tells messages of one moment apart, so that each has an id and a place of its own.
//!
//! An export has no ids, and on Android no seconds. A message's id is made of what it says and how
//! many equal ones came before it in its minute; so it is the same in every export of the chat.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use jiff::civil::DateTime;
use protocol::limits::import as limits;
use sha2::{Digest as _, Sha256};

/// Counts what came in each of the latest moments.
#[derive(Debug, Default)]
pub(super) struct Moments {
    counts: HashMap<DateTime, Counts>,
    /// The same moments in the order in which they came, so that the oldest is forgotten first.
    order: VecDeque<DateTime>,
}

#[derive(Debug, Default)]
struct Counts {
    messages: u64,
    equal: HashMap<[u8; 16], u64>,
}

/// A message's place among those of its moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) message_id: String,
    /// How many messages came before it in this moment.
    pub(super) ordinal: u64,
}

impl Moments {
    pub(super) fn place(
        &mut self,
        chat_id: &str,
        civil: DateTime,
        sender: &str,
        identity: &str,
    ) -> Place {
        if !self.counts.contains_key(&civil) {
            if self.order.len() >= limits::MOMENTS_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.counts.remove(&oldest);
            }
            self.order.push_back(civil);
        }
        let counts = self.counts.entry(civil).or_default();
        let ordinal = counts.messages;
        counts.messages = counts.messages.saturating_add(1);
        let written = civil.to_string();
        let content = hash(&[chat_id, &written, sender, identity, ""]);
        let repeat = if counts.equal.len() < limits::MESSAGES_PER_MOMENT_MAX
            || counts.equal.contains_key(&content)
        {
            let seen = counts.equal.entry(content).or_default();
            *seen = seen.saturating_add(1);
            seen.saturating_sub(1).to_string()
        } else {
            // No chat is this fast; what is written here has its place as its only mark.
            format!("at {ordinal}")
        };
        let id = hash(&[chat_id, &written, sender, identity, &repeat]);
        let mut message_id = String::with_capacity(id.len().saturating_mul(2));
        for byte in id {
            // Writing to a string cannot fail.
            write!(message_id, "{byte:02x}").unwrap_or_default();
        }
        Place { message_id, ordinal }
    }
}

fn hash(parts: &[&str]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut short = [0; 16];
    for (target, byte) in short.iter_mut().zip(hash.finalize()) {
        *target = byte;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(minute: i8) -> DateTime {
        jiff::civil::date(2024, 1, 31).at(18, minute, 0, 0)
    }

    #[test]
    fn equal_messages_of_one_minute_have_different_ids() {
        let mut moments = Moments::default();
        let first = moments.place("c", minute(1), "Anna", "ok");
        let second = moments.place("c", minute(1), "Anna", "ok");
        let other = moments.place("c", minute(1), "Ben", "ok");
        assert_ne!(first.message_id, second.message_id);
        assert_eq!((first.ordinal, second.ordinal, other.ordinal), (0, 1, 2));
        assert_eq!(first.message_id.len(), 32);
    }

    #[test]
    fn an_id_does_not_depend_on_what_else_was_said() {
        let mut short = Moments::default();
        let mut long = Moments::default();
        long.place("c", minute(1), "Ben", "something else");
        assert_eq!(
            short.place("c", minute(1), "Anna", "ok").message_id,
            long.place("c", minute(1), "Anna", "ok").message_id
        );
    }

    #[test]
    fn a_moment_that_comes_again_goes_on_counting() {
        let mut moments = Moments::default();
        let first = moments.place("c", minute(1), "Anna", "ok");
        moments.place("c", minute(2), "Anna", "ok");
        let again = moments.place("c", minute(1), "Anna", "ok");
        assert_ne!(first.message_id, again.message_id);
        assert_eq!(again.ordinal, 1);
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut moments = Moments::default();
        let start = minute(0);
        for number in 0..i64::try_from(limits::MOMENTS_MAX).unwrap() + 500 {
            let span = jiff::Span::new().minutes(number);
            moments.place("c", start.checked_add(span).unwrap(), "Anna", "ok");
        }
        assert_eq!(moments.counts.len(), limits::MOMENTS_MAX);
        assert_eq!(moments.order.len(), limits::MOMENTS_MAX);
    }
}
