//! Which message a changed message was first.
//!
//! Signal names a message by when it was sent, and a changed one also by when it was changed. So
//! what refers to a change is led back to the first sending. Only so many changes are remembered,
//! and only while the hub runs; an older one is taken for the message itself.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use protocol::limits::chats as limits;

/// Changes, and the messages they belong to.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    first_of: HashMap<String, String>,
    order: VecDeque<String>,
}

impl Revisions {
    /// The message that was first, for a message or a change of it.
    pub(super) fn first(&self, message_id: String) -> String {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.first_of.get(&message_id).cloned().unwrap_or(message_id)
    }

    /// Remembers a change of a message.
    pub(super) fn remember(&self, change_id: String, first_id: &str) {
        if change_id == first_id {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.first_of.insert(change_id.clone(), first_id.to_owned()).is_some() {
            return;
        }
        known.order.push_back(change_id);
        if known.order.len() > limits::SIGNAL_REVISIONS_MAX
            && let Some(oldest) = known.order.pop_front()
        {
            known.first_of.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_leads_back_to_the_first() {
        let revisions = Revisions::default();
        revisions.remember("a:2".to_owned(), "a:1");
        let first = revisions.first("a:2".to_owned());
        revisions.remember("a:3".to_owned(), &first);
        assert_eq!(revisions.first("a:3".to_owned()), "a:1");
        assert_eq!(revisions.first("b:9".to_owned()), "b:9");
    }

    #[test]
    fn only_so_many_are_remembered() {
        let revisions = Revisions::default();
        for change in 0..=limits::SIGNAL_REVISIONS_MAX {
            revisions.remember(format!("a:{change}"), "first");
        }
        assert_eq!(revisions.first("a:0".to_owned()), "a:0");
        assert_eq!(revisions.first("a:1".to_owned()), "first");
    }
}
