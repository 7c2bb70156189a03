//! Since when a bot has seen everything that was said in a chat.
//!
//! A bot is told of a chat only when something happens there, and it may have been added a moment
//! ago. So a chat is claimed when it is first heard of: from the beginning of the stream, unless the
//! bot came later, which Telegram says first. What privacy mode hides is never claimed.

use std::collections::HashMap;

use protocol::chat::HeldFact;
use protocol::{Timestamp, limits};
use serde_json::Value;

use super::translate::json::{integer, moment, text};

/// What a stream has seen.
#[derive(Debug)]
pub(super) struct Watch {
    sees_groups: bool,
    since: Timestamp,
    chats: HashMap<String, Seen>,
    claimed_at: Timestamp,
}

#[derive(Debug)]
struct Seen {
    /// Since when all of it; `None` while some of it is hidden.
    whole_since: Option<Timestamp>,
    /// Whether something happened since the last claim.
    is_fresh: bool,
}

impl Watch {
    /// Everything is seen since then; in groups only if the bot may.
    pub(super) fn new(sees_groups: bool, since: Timestamp) -> Self {
        Self { sees_groups, since, chats: HashMap::new(), claimed_at: since }
    }

    /// Something may have been missed before this moment.
    pub(super) fn restart(&mut self, since: Timestamp) {
        self.since = since;
        self.chats.clear();
    }

    /// Takes note of an update. What ends with it is claimed.
    pub(super) fn note(&mut self, update: &Value, held: &mut Vec<HeldFact>) {
        for kind in ["message", "channel_post"] {
            if let Some(chat) = update.get(kind).and_then(|message| message.get("chat")) {
                self.heard_of(chat);
            }
        }
        if let Some(change) = update.get("my_chat_member") {
            self.changed(change, held);
        }
    }

    fn heard_of(&mut self, chat: &Value) {
        let Some(id) = integer(chat, "id").map(|id| id.to_string()) else { return };
        if let Some(seen) = self.chats.get_mut(&id) {
            seen.is_fresh = true;
            return;
        }
        let is_hidden = is_group(chat) && !self.sees_groups;
        self.insert(id, (!is_hidden).then_some(self.since));
    }

    /// The bot came, went, or got other rights.
    fn changed(&mut self, change: &Value, held: &mut Vec<HeldFact>) {
        let (Some(chat), Some(date)) = (change.get("chat"), moment(change, "date")) else { return };
        let Some(id) = integer(chat, "id").map(|id| id.to_string()) else { return };
        let status = change.get("new_chat_member").and_then(|member| text(member, "status"));
        let was = change.get("old_chat_member").and_then(|member| text(member, "status"));
        let sees = match status {
            Some("administrator" | "creator") => true,
            Some("member" | "restricted") => self.sees_groups || !is_group(chat),
            _ => false,
        };
        let saw = self.chats.get(&id).and_then(|seen| seen.whole_since);
        let was_there = matches!(was, Some("administrator" | "creator" | "member" | "restricted"));
        match (saw, sees) {
            (Some(_), true) if was_there => {}
            (Some(from), _) if was_there => {
                held.push(HeldFact { chat_id: Some(id.clone()), from: Some(from), to: date });
                self.insert(id, sees.then_some(date));
            }
            _ => self.insert(id, sees.then_some(date)),
        }
    }

    fn insert(&mut self, id: String, whole_since: Option<Timestamp>) {
        if self.chats.len() < limits::chats::TELEGRAM_CHATS_WATCHED_MAX
            || self.chats.contains_key(&id)
        {
            self.chats.insert(id, Seen { whole_since, is_fresh: true });
        }
    }

    /// Claims what is whole until then: the chats where something happened, and all of them from
    /// time to time while nothing happens.
    pub(super) fn claim(&mut self, to: Timestamp, is_idle: bool, held: &mut Vec<HeldFact>) {
        let is_due = to.ms_since(self.claimed_at) >= limits::chats::TELEGRAM_HELD_EVERY_MS;
        let takes_all = is_idle && is_due;
        if takes_all {
            self.claimed_at = to;
        }
        for (id, seen) in &mut self.chats {
            if let Some(from) = seen.whole_since
                && (seen.is_fresh || takes_all)
                && from < to
            {
                seen.is_fresh = false;
                held.push(HeldFact { chat_id: Some(id.clone()), from: Some(from), to });
            }
        }
        held.sort_by(|a, b| (&a.chat_id, a.from, a.to).cmp(&(&b.chat_id, b.from, b.to)));
    }
}

/// When an update happened, as far as it says so.
pub(super) fn date_of(update: &Value) -> Option<Timestamp> {
    let body = update.as_object()?.values().find(|value| value.is_object())?;
    moment(body, "edit_date").or_else(|| moment(body, "date"))
}

fn is_group(chat: &Value) -> bool {
    matches!(text(chat, "type"), Some("group" | "supergroup"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_000_000);

    fn member(was: &str, is: &str, second: i64) -> Value {
        json!({ "update_id": 1, "my_chat_member": {
            "chat": { "id": -100, "type": "supergroup" }, "date": second,
            "old_chat_member": { "status": was }, "new_chat_member": { "status": is },
        }})
    }

    fn said(second: i64) -> Value {
        json!({ "update_id": 1, "message": {
            "chat": { "id": -100, "type": "supergroup" }, "date": second, "text": "x",
        }})
    }

    /// What is claimed after these updates, in seconds.
    fn claims(sees_groups: bool, updates: &[Value]) -> Vec<(i64, i64)> {
        let mut watch = Watch::new(sees_groups, START);
        let mut held = Vec::new();
        for update in updates {
            watch.note(update, &mut held);
        }
        watch.claim(Timestamp::from_ms(9_000_000), false, &mut held);
        let seconds = |held: &HeldFact| (held.from.unwrap().as_seconds(), held.to.as_seconds());
        held.iter().map(seconds).collect()
    }

    #[test]
    fn a_chat_the_bot_was_in_is_whole_since_the_beginning() {
        assert_eq!(claims(true, &[said(2_000)]), [(1_000, 9_000)]);
    }

    #[test]
    fn a_chat_the_bot_came_to_is_whole_since_then() {
        assert_eq!(claims(true, &[member("left", "member", 3_000), said(4_000)]), [(3_000, 9_000)]);
    }

    #[test]
    fn a_chat_the_bot_left_was_whole_until_then() {
        let updates = [said(2_000), member("member", "kicked", 5_000)];
        assert_eq!(claims(true, &updates), [(1_000, 5_000)]);
    }

    #[test]
    fn coming_back_leaves_the_time_between_open() {
        let updates =
            [said(2_000), member("member", "left", 3_000), member("left", "member", 6_000)];
        assert_eq!(claims(true, &updates), [(1_000, 3_000), (6_000, 9_000)]);
    }

    #[test]
    fn under_privacy_mode_only_an_administrator_sees_all() {
        assert_eq!(claims(false, &[said(2_000)]), []);
        let promoted = [said(2_000), member("member", "administrator", 3_000)];
        assert_eq!(claims(false, &promoted), [(3_000, 9_000)]);
        let demoted = [
            member("left", "administrator", 3_000),
            member("administrator", "member", 4_000),
            said(5_000),
        ];
        assert_eq!(claims(false, &demoted), [(3_000, 4_000)]);
    }

    #[test]
    fn other_rights_interrupt_nothing() {
        let updates = [said(2_000), member("member", "administrator", 3_000)];
        assert_eq!(claims(true, &updates), [(1_000, 9_000)]);
    }
}
