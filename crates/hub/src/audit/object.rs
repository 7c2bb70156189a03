//! What an operation is about, as the trail names it when it reads, is refused, or has nothing to do.
//!
//! The name is sealed and stays for ever, so only what could be a name of the hub's stands there: text
//! that somebody put in the wrong field does not. A chat is called like the people in it; how it was
//! asked for stands in the detail, which can be erased.

use std::borrow::Cow;

use protocol::chat::clean::clean_name;
use protocol::{limits, validate};
use serde_json::json;

/// What an operation is about.
#[derive(Clone, Debug)]
pub enum Object<'a> {
    /// Nothing in particular.
    None,
    /// Something with an id or a name.
    Named(Cow<'a, str>),
    /// A chat of a source, as it was asked for; all of them where none is named.
    Chat {
        /// The source.
        source: Option<&'a str>,
        /// The chat, by its id or name.
        chat: Option<&'a str>,
    },
}

impl<'a> Object<'a> {
    /// Something with an id or a name.
    pub fn named(name: &'a str) -> Self {
        Self::Named(Cow::Borrowed(name))
    }

    /// The same where one may be given.
    pub fn maybe(name: Option<&'a str>) -> Self {
        name.map_or(Self::None, Self::named)
    }
}

/// What an operation is about, kept for its entry: short and printable, whatever was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    object: String,
    chat: Option<String>,
}

impl Asked {
    pub(crate) fn of(object: Object<'_>) -> Self {
        match object {
            Object::Named(name) if validate::name(&name).is_ok() => {
                Self { object: name.into_owned(), chat: None }
            }
            Object::None | Object::Named(_) => Self::default(),
            Object::Chat { source, chat } => {
                let chat = chat.map(|chat| clean_name(head(chat)).into_owned());
                match source {
                    None => Self { object: "*".to_owned(), chat },
                    Some(source) => Self { chat, ..Self::of(Object::named(source)) },
                }
            }
        }
    }

    /// What it is about; empty where nothing is named.
    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    /// What an auditor may read besides.
    pub(crate) fn detail(&self) -> Option<String> {
        self.chat.as_ref().map(|chat| json!({ "chat": chat }).to_string())
    }
}

/// As much of a text as is looked at.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(limits::AUDIT_CHAT_BYTES_MAX)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_there_and_other_text_does_not() {
        for name in ["th_01JXYZ0000000000000000000B", "th_a/msg_b", "telegram", "agent@host"] {
            assert_eq!(Asked::of(Object::named(name)).object(), name);
        }
        let long = "x".repeat(10_000);
        for text in ["", "two words", "a\nb", "a\0", "\u{1b}[2J", "a\u{202e}b", long.as_str()] {
            assert_eq!(Asked::of(Object::named(text)).object(), "", "{text:?}");
        }
        assert_eq!(Asked::of(Object::None).object(), "");
        assert_eq!(Asked::of(Object::maybe(None)).object(), "");
    }

    #[test]
    fn a_chat_stands_in_what_can_be_erased() {
        let asked = Asked::of(Object::Chat { source: Some("telegram"), chat: Some("Family") });
        assert_eq!(asked.object(), "telegram");
        assert_eq!(asked.detail().as_deref(), Some(r#"{"chat":"Family"}"#));
        let all = Asked::of(Object::Chat { source: None, chat: None });
        assert_eq!((all.object(), all.detail()), ("*", None));
        let odd = format!("a\u{1b}[2J\u{202e}\n{}", "ü".repeat(100_000));
        let asked = Asked::of(Object::Chat { source: Some("a\nb"), chat: Some(&odd) });
        assert_eq!(asked.object(), "");
        let detail = asked.detail().unwrap();
        assert!(detail.chars().count() < 200, "{detail}");
        assert!(!detail.chars().any(|c| c.is_control() || c == '\u{202e}'), "{detail}");
    }
}
