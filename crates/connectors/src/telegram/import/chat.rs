//! A chat of an export: its name, and how much of it the export holds.

use std::collections::HashSet;

use protocol::chat::{ChatFact, ChatType, HeldFact};
use protocol::{Timestamp, limits};

use super::super::ids;

/// Topics of one forum that are remembered.
const TOPICS_MAX: usize = 10_000;

/// What stands at the head of a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) id: Option<i64>,
    pub(super) sort: Option<String>,
    pub(super) name: Option<String>,
}

/// Who counts the messages of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// The chat itself: a supergroup, a channel.
    Chat,
    /// Each account, in a small group.
    SmallGroup,
    /// Each account, in a private chat.
    Personal,
}

/// A chat that is being read.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) id: String,
    counting: Counting,
    sort: ChatType,
    /// The first messages of topics.
    topics: HashSet<i64>,
    pub(super) last_at: Option<Timestamp>,
    coverage: Coverage,
}

#[derive(Debug, Default)]
struct Coverage {
    whole: Vec<(Option<Timestamp>, Timestamp)>,
    open: Option<(Option<Timestamp>, Timestamp)>,
    has_begun: bool,
    senders: HashSet<String>,
}

impl Head {
    /// The chat; `None` where there is nothing to know it by.
    pub(super) fn chat(&self, name_given: Option<&str>) -> Option<Chat> {
        let sort = self.sort.as_deref().unwrap_or_default();
        let counting = if sort.ends_with("supergroup") || sort.ends_with("channel") {
            Counting::Chat
        } else if sort.ends_with("group") {
            Counting::SmallGroup
        } else {
            Counting::Personal
        };
        let id = match (self.id, counting) {
            (Some(id), Counting::Chat) => ids::channel(id),
            (Some(id), Counting::SmallGroup) => ids::small_group(id),
            (Some(id), Counting::Personal) => ids::personal_chat(id),
            // The first exports had no ids of chats.
            (None, _) => format!("named:{}", self.name.as_deref().or(name_given)?),
        };
        let chat_type = match counting {
            Counting::Chat if sort.ends_with("channel") => ChatType::Channel,
            Counting::Chat | Counting::SmallGroup => ChatType::Group,
            Counting::Personal => ChatType::Direct,
        };
        Some(Chat {
            id,
            counting,
            sort: chat_type,
            topics: HashSet::new(),
            last_at: None,
            coverage: Coverage::default(),
        })
    }

    /// The chat's name, as people would say it.
    pub(super) fn shown_name(&self, name_given: Option<&str>) -> Option<String> {
        let of_sort = match self.sort.as_deref() {
            Some("saved_messages") => Some("Saved Messages"),
            Some("replies") => Some("Replies"),
            Some("personal_chat") if self.name.is_none() => Some("Deleted Account"),
            _ => None,
        };
        self.name.clone().or(name_given.map(str::to_owned)).or(of_sort.map(str::to_owned))
    }
}

impl Chat {
    /// The chat as a fact.
    pub(super) fn fact(&self, name: Option<String>) -> ChatFact {
        let chat_type = Some(self.sort);
        ChatFact { chat_id: self.id.clone(), chat_type, name, ..ChatFact::default() }
    }

    /// The name of a message in this chat.
    pub(super) fn message(&self, number: i64) -> String {
        match self.counting {
            Counting::SmallGroup => ids::exported_small_group_message(number).to_string(),
            Counting::Chat | Counting::Personal => number.to_string(),
        }
    }

    /// A topic begins with this message.
    pub(super) fn begin_topic(&mut self, number: i64) {
        if self.topics.len() < TOPICS_MAX {
            self.topics.insert(number);
        }
    }

    /// Whether a topic begins with this message.
    pub(super) fn is_topic(&self, number: i64) -> bool {
        self.topics.contains(&number)
    }

    /// A message was read.
    pub(super) fn saw(
        &mut self,
        number: i64,
        action: Option<&str>,
        at: Timestamp,
        sender: Option<&str>,
    ) {
        self.last_at = Some(at);
        let coverage = &mut self.coverage;
        // Two are enough to know that not all is of one person.
        if let Some(sender) = sender
            && coverage.senders.len() < 2
            && !coverage.senders.contains(sender)
        {
            coverage.senders.insert(sender.to_owned());
        }
        let is_first = !coverage.has_begun;
        coverage.has_begun = true;
        let is_creation = matches!(action, Some("create_group" | "create_channel"));
        let is_beginning =
            is_first && (is_creation || (number == 1 && self.counting == Counting::Chat));
        let from = if is_beginning { None } else { Some(at) };
        coverage.open = Some(match coverage.open {
            Some((from, to)) => (from.map(|from| from.min(at)), to.max(at)),
            None => (from, at),
        });
    }

    /// A message was left out: what comes before and after it is whole, but not the two together.
    pub(super) fn missed(&mut self) {
        self.coverage.has_begun = true;
        self.close();
    }

    fn close(&mut self) {
        if let Some(stretch) = self.coverage.open.take()
            && self.coverage.whole.len() < limits::chats::TELEGRAM_IMPORT_STRETCHES_MAX
        {
            self.coverage.whole.push(stretch);
        }
    }

    /// What the export holds whole. Of groups, an export of everything may hold only what its owner
    /// said: then nothing is claimed.
    pub(super) fn held(&mut self, is_of_account: bool, owner: Option<&str>) -> Vec<HeldFact> {
        self.close();
        let senders = &self.coverage.senders;
        let is_only_own = match owner {
            Some(owner) => senders.iter().all(|sender| sender == owner),
            None => senders.len() < 2 && !senders.contains(&self.id),
        };
        if is_of_account && self.counting != Counting::Personal && is_only_own {
            return Vec::new();
        }
        let chat_id = Some(self.id.clone());
        let whole = std::mem::take(&mut self.coverage.whole).into_iter();
        whole.map(|(from, to)| HeldFact { chat_id: chat_id.clone(), from, to }).collect()
    }
}
