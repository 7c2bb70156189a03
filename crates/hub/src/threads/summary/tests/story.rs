//! A thread told message by message.

use protocol::caller::HUB_AGENT;
use protocol::thread::Dispute;
use protocol::{MessageId, MessageKind, ThreadStatus, Timestamp};
use serde_json::{Value, json};

use crate::threads::summary::{Entry, Fold, OpenItem, Summary};

pub(super) const REVIEWER: &str = "reviewer_agent";
pub(super) const AUTHOR: &str = "executioner_agent";

/// A thread in the making.
#[derive(Default)]
pub(super) struct Story {
    pub(super) fold: Fold,
    seq: i64,
}

/// The id of the message with this number.
pub(super) fn id(seq: i64) -> MessageId {
    MessageId::new(Timestamp::from_ms(seq), [0; 10])
}

impl Story {
    /// Posts anything and gives its number.
    pub(super) fn post(
        &mut self,
        sender: &str,
        kind: MessageKind,
        body: &str,
        metadata: Option<&str>,
        reply_to: Option<i64>,
    ) -> i64 {
        self.seq += 1;
        self.fold.apply(&Entry {
            seq: self.seq,
            message_id: id(self.seq),
            sender,
            kind,
            body,
            metadata,
            in_reply_to: reply_to.map(id),
        });
        self.seq
    }

    /// Posts an event with these facts, which may hold `reply_to`, a number, and `body`.
    pub(super) fn event(&mut self, sender: &str, event_type: &str, mut facts: Value) -> i64 {
        let map = facts.as_object_mut().unwrap();
        map.insert("event_type".to_owned(), json!(event_type));
        let reply_to = map.remove("reply_to").and_then(|seq| seq.as_i64());
        let body = map.remove("body").unwrap_or_else(|| json!("as said"));
        let body = body.as_str().unwrap();
        self.post(sender, MessageKind::Event, body, Some(&facts.to_string()), reply_to)
    }

    pub(super) fn report(&mut self, facts: Value) -> i64 {
        self.event(REVIEWER, "finding_reported", facts)
    }

    /// Reports a finding that blocks.
    pub(super) fn report_high(&mut self) -> i64 {
        self.report(json!({ "severity": "high" }))
    }

    pub(super) fn fix(&mut self, facts: Value) -> i64 {
        self.event(AUTHOR, "fix_pushed", facts)
    }

    pub(super) fn verify(&mut self, facts: Value) -> i64 {
        self.event(REVIEWER, "finding_verified", facts)
    }

    /// Has the hub say where the thread went.
    pub(super) fn move_to(&mut self, to: ThreadStatus) -> i64 {
        let facts = json!({ "event_type": "status_changed", "to": to, "by": "operator" });
        let (kind, facts) = (MessageKind::System, facts.to_string());
        self.post(HUB_AGENT, kind, "the thread was moved", Some(&facts), None)
    }

    pub(super) fn chat(&mut self, sender: &str, body: &str) -> i64 {
        self.post(sender, MessageKind::Chat, body, None, None)
    }

    pub(super) fn chat_reply(&mut self, sender: &str, body: &str, to: i64) -> i64 {
        self.post(sender, MessageKind::Chat, body, None, Some(to))
    }

    pub(super) fn summary(&self) -> Summary {
        self.fold.summary(ThreadStatus::Active)
    }

    pub(super) fn sentence(&self) -> String {
        self.summary().summary
    }

    pub(super) fn items(&self) -> Vec<OpenItem> {
        self.summary().open_items
    }

    pub(super) fn is_disputed(&self) -> bool {
        self.fold.dispute() == Dispute::Disputed
    }
}
