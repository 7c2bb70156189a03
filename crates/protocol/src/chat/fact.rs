//! What a source says happened: the one shape that live links, history and imports all hand in.
//!
//! A connector translates; it decides nothing. Ids are the source's own, as text. Facts may come
//! twice, late and out of order: whoever takes them makes one archive of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kind::{ChatType, ContentType};
use crate::time::Timestamp;

/// Facts that belong together. They are taken in the order of these fields, all or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// Chats that exist or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chats: Vec<ChatFact>,
    /// People who exist or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PersonFact>,
    /// Messages that were sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageFact>,
    /// Messages that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditFact>,
    /// Messages that were taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deletions: Vec<DeletionFact>,
    /// Signs put on messages, or taken off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<ReactionFact>,
    /// Signs on messages, counted by a source that does not say whose they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<TallyFact>,
    /// Stretches of time of which nothing is missing now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldFact>,
}

impl Facts {
    /// How many facts these are.
    pub fn len(&self) -> usize {
        self.chats.len()
            + self.people.len()
            + self.messages.len()
            + self.edits.len()
            + self.deletions.len()
            + self.reactions.len()
            + self.tallies.len()
            + self.held.len()
    }

    /// Whether there is nothing in them.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds others behind these.
    pub fn extend(&mut self, other: Self) {
        self.chats.extend(other.chats);
        self.people.extend(other.people);
        self.messages.extend(other.messages);
        self.edits.extend(other.edits);
        self.deletions.extend(other.deletions);
        self.reactions.extend(other.reactions);
        self.tallies.extend(other.tallies);
        self.held.extend(other.held);
    }
}

/// A chat. What is left out stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatFact {
    /// Its id at the source.
    pub chat_id: String,
    /// What sort it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_type: Option<ChatType>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many take part, where the source says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant_count: Option<u32>,
    /// Ids under which the same chat was known before, such as a group that became a supergroup.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former_ids: Vec<String>,
}

/// A person, a bot, or whatever else speaks. All its aliases are one identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PersonFact {
    /// The id at the source, which messages name as `sender_id`.
    pub person_id: String,
    /// The name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Other spellings of the same identity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
    /// Whether this is the owner of the link.
    #[serde(skip_serializing_if = "is_false")]
    pub is_self: bool,
}

/// Another spelling of an identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Alias {
    /// Another id at the same source.
    Id(String),
    /// A handle at the service, without `@`.
    Username(String),
    /// A telephone number, `+4915112345678`: the same person at every service.
    Phone(String),
    /// A UUID that the service gives each account.
    Uuid(String),
    /// A mail address: the same person at every service.
    Email(String),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageFact {
    /// The chat.
    pub chat_id: String,
    /// Its id, unique within the chat.
    pub message_id: String,
    /// When it was sent, by the source's clock.
    pub sent_at: Timestamp,
    /// Who sent it; absent where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_id: Option<String>,
    /// The sender's name as it was shown then; a [`PersonFact`] says it better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// What it holds.
    #[serde(default = "text", skip_serializing_if = "is_text")]
    pub content: ContentType,
    /// Its words, or its caption; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What hangs on it.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::object::objects"
    )]
    pub attachments: Vec<Attachment>,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The message whose thread, or the topic, it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// When it was last changed, where it comes changed already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// Whose words these were first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarded_from: Option<String>,
    /// Signs on it, where it comes with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// When it must be forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// It was meant to be seen once: its words and attachments are not kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_view_once: bool,
    /// What else the source said of it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl MessageFact {
    /// A text, from which everything else can be filled in.
    pub fn new(
        chat_id: impl Into<String>,
        message_id: impl Into<String>,
        sent_at: Timestamp,
        text: impl Into<String>,
    ) -> Self {
        Self {
            chat_id: chat_id.into(),
            message_id: message_id.into(),
            sent_at,
            sender_id: None,
            sender_name: None,
            content: ContentType::Text,
            text: text.into(),
            attachments: Vec::new(),
            reply_to: None,
            topic: None,
            edited_at: None,
            forwarded_from: None,
            reactions: Vec::new(),
            expires_at: None,
            is_view_once: false,
            extra: Map::new(),
        }
    }
}

/// Something that hangs on a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Attachment {
    /// How the source finds it again; absent where it cannot be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_id: Option<String>,
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// How large it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long it plays, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
}

/// A sign on a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The sign: an emoji, or its name at the source.
    pub emoji: String,
    /// How many put it there.
    pub count: u32,
    /// Who did, as far as the source says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// A message was changed. One that is not known yet is remembered until it comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFact {
    /// The message as it stands now; its `edited_at` says when it was changed.
    pub message: MessageFact,
}

/// A message was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeletionFact {
    /// The chat.
    pub chat_id: String,
    /// The message.
    pub message_id: String,
    /// When.
    pub at: Timestamp,
    /// By whom, where the source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A sign was put on a message, or taken off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactionFact {
    /// The chat.
    pub chat_id: String,
    /// The message.
    pub message_id: String,
    /// By whom.
    pub person_id: String,
    /// The sign: an emoji, or its name at the source.
    pub emoji: String,
    /// When.
    pub at: Timestamp,
    /// Whether it was taken off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_removed: bool,
}

/// All the signs on a message, counted: what was known of them before is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TallyFact {
    /// The chat.
    pub chat_id: String,
    /// The message.
    pub message_id: String,
    /// What is on it now.
    pub reactions: Vec<Reaction>,
    /// When.
    pub at: Timestamp,
}

/// A stretch of a chat's time of which nothing is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldFact {
    /// The chat; absent for every chat of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
    /// From when; absent for the chat's beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Until when.
    pub to: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_text(content: &ContentType) -> bool {
    *content == ContentType::Text
}

fn text() -> ContentType {
    ContentType::Text
}
