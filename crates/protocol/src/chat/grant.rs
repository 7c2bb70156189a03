//! Which chats a token may see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which chats a caller may see. What it may do with them is said by its scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChatGrant {
    /// None at all.
    #[default]
    None,
    /// Every chat of the workspace.
    All,
    /// These.
    Lists(ChatLists),
}

/// Chats that are given, and of those some that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatLists {
    /// What is given: `telegram/*` or `telegram/12345`. An empty list gives nothing.
    pub allow: Vec<ChatPattern>,
    /// What is withheld although it is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<ChatPattern>,
}

/// A source, or all, and a chat in it by id, or all: `telegram/12345`, `slack-work/*`, `*/*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ChatPattern {
    /// The source; `None` for all.
    pub source: Option<String>,
    /// The chat's id at the source; `None` for all.
    pub chat: Option<String>,
}

/// The text names no chats.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a source and a chat, such as telegram/* or slack-work/C024BE91L")]
pub struct MalformedPattern;

impl ChatPattern {
    /// Whether a chat is meant.
    pub fn matches(&self, source: &str, chat_id: &str) -> bool {
        self.source.as_deref().is_none_or(|named| named == source)
            && self.chat.as_deref().is_none_or(|named| named == chat_id)
    }

    /// Whether any chat of a source may be meant.
    pub fn touches(&self, source: &str) -> bool {
        self.source.as_deref().is_none_or(|named| named == source)
    }
}

impl std::str::FromStr for ChatPattern {
    type Err = MalformedPattern;

    fn from_str(text: &str) -> Result<Self, MalformedPattern> {
        let (source, chat) = text.split_once('/').ok_or(MalformedPattern)?;
        if source.is_empty() || chat.is_empty() {
            return Err(MalformedPattern);
        }
        let part = |text: &str| (text != "*").then(|| text.to_owned());
        Ok(Self { source: part(source), chat: part(chat) })
    }
}

impl TryFrom<String> for ChatPattern {
    type Error = MalformedPattern;

    fn try_from(text: String) -> Result<Self, MalformedPattern> {
        text.parse()
    }
}

impl From<ChatPattern> for String {
    fn from(pattern: ChatPattern) -> Self {
        pattern.to_string()
    }
}

impl std::fmt::Display for ChatPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
        write!(f, "{}/{}", part(&self.source), part(&self.chat))
    }
}

impl ChatGrant {
    /// Whether a chat may be seen.
    pub fn sees(&self, source: &str, chat_id: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Lists(lists) => {
                let any = |list: &[ChatPattern]| list.iter().any(|p| p.matches(source, chat_id));
                any(&lists.allow) && !any(&lists.deny)
            }
        }
    }

    /// Whether any chat of a source may be seen; a source none of whose chats may is not there.
    pub fn sees_source(&self, source: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Lists(lists) => {
                let withheld = |p: &ChatPattern| p.chat.is_none() && p.touches(source);
                lists.allow.iter().any(|p| p.touches(source)) && !lists.deny.iter().any(withheld)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(allow: &[&str], deny: &[&str]) -> ChatGrant {
        let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        ChatGrant::Lists(ChatLists { allow: parse(allow), deny: parse(deny) })
    }

    #[test]
    fn an_empty_allow_list_denies() {
        assert!(!lists(&[], &[]).sees("telegram", "1"));
        assert!(!lists(&[], &[]).sees_source("telegram"));
        assert!(!ChatGrant::default().sees_source("telegram"));
    }

    #[test]
    fn deny_wins_over_allow() {
        let grant = lists(&["telegram/*", "slack/C1"], &["telegram/7"]);
        assert!(grant.sees("telegram", "1") && !grant.sees("telegram", "7"));
        assert!(grant.sees("slack", "C1") && !grant.sees("slack", "C2"));
        assert!(grant.sees_source("slack") && !grant.sees_source("signal"));
        assert!(!lists(&["*/*"], &["signal/*"]).sees_source("signal"));
    }

    #[test]
    fn a_pattern_survives_its_text() {
        for text in ["*/*", "telegram/*", "slack/C1", "mail/a/b"] {
            assert_eq!(text.parse::<ChatPattern>().unwrap().to_string(), text);
        }
        for bad in ["", "telegram", "/x", "telegram/"] {
            assert!(bad.parse::<ChatPattern>().is_err(), "{bad}");
        }
    }
}
