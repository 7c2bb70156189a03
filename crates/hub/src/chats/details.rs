//! What is known of a chat's message beside its words, as it is stored with it.

use protocol::Timestamp;
use protocol::chat::{Attachment, ContentType, MessageFact, Reaction};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// What is known of a message beside its words. A plain text has none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Details {
    /// What it holds, where that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<ContentType>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) topic: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edited_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expired_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forwarded_from: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reactions: Vec<Reaction>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_view_once: bool,
    /// How many bytes of the words are missing because there were too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) extra: Map<String, Value>,
}

impl Details {
    /// What a source says of a message.
    pub(crate) fn of(fact: &MessageFact) -> Self {
        Self {
            content: (fact.content != ContentType::Text).then_some(fact.content),
            attachments: if fact.is_view_once { Vec::new() } else { fact.attachments.clone() },
            reply_to: fact.reply_to.clone(),
            topic: fact.topic.clone(),
            edited_at: fact.edited_at,
            forwarded_from: fact.forwarded_from.clone(),
            reactions: fact.reactions.clone(),
            is_view_once: fact.is_view_once,
            extra: fact.extra.clone(),
            ..Self::default()
        }
    }

    /// What it holds.
    pub(crate) fn content(&self) -> ContentType {
        self.content.unwrap_or(ContentType::Text)
    }

    /// Whether its words are gone for good.
    pub(crate) fn is_gone(&self) -> bool {
        self.deleted_at.is_some() || self.expired_at.is_some()
    }

    /// Its time is up: that it was there stays, and where.
    pub(crate) fn expire(&mut self, at: Timestamp) {
        self.expired_at = Some(at);
        self.attachments.clear();
        self.reactions.clear();
        self.extra.clear();
        self.forwarded_from = None;
        self.cut_bytes = None;
    }

    /// As it is stored; nothing for a plain text.
    pub(crate) fn to_text(&self) -> Result<Option<String>> {
        if *self == Self::default() {
            return Ok(None);
        }
        serde_json::to_string(self).map(Some).map_err(|error| Error::Internal(Box::new(error)))
    }

    /// As it was stored.
    pub(crate) fn from_text(text: Option<&str>) -> Result<Self> {
        text.map_or_else(
            || Ok(Self::default()),
            |text| serde_json::from_str(text).map_err(|error| Error::Internal(Box::new(error))),
        )
    }
}
