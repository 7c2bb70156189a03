//! The app's own lines: which of them begin a chat, and which only groups have.

use std::sync::LazyLock;

use super::{locales, words};

/// What one of the app's own lines tells about the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// The chat is encrypted: the first line of every chat.
    Encrypted,
    /// Somebody created the group: the first line of a group.
    Created,
    /// Somebody joined, left, or changed something that only groups have.
    Group,
}

impl Notice {
    /// Whether a chat that begins with this line is there from its beginning.
    pub(super) fn is_beginning(self) -> bool {
        matches!(self, Self::Encrypted | Self::Created)
    }
}

struct Pattern {
    notice: Notice,
    parts: Vec<String>,
    tag: &'static str,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let pattern = |notice, parts: &[&str], tag| Pattern {
        notice,
        parts: parts.iter().map(|part| words::fold(part)).collect(),
        tag,
    };
    let mut patterns = Vec::new();
    for locale in locales::all() {
        let single = |notice| move |part: &&str| pattern(notice, &[part], locale.tag);
        patterns.extend(locale.encrypted.iter().map(single(Notice::Encrypted)));
        patterns
            .extend(locale.created.iter().map(|parts| pattern(Notice::Created, parts, locale.tag)));
        patterns.extend(locale.group.iter().map(single(Notice::Group)));
    }
    patterns
});

/// The app's own lines are short; longer ones are not looked at.
const NOTICE_BYTES_MAX: usize = 1_024;

/// What one of the app's own lines tells, and in which language.
pub(super) fn notice(text: &str) -> Option<(Notice, &'static str)> {
    if text.len() > NOTICE_BYTES_MAX {
        return None;
    }
    let folded = words::fold(text);
    PATTERNS
        .iter()
        .find(|pattern| pattern.parts.iter().all(|part| folded.contains(part.as_str())))
        .map(|pattern| (pattern.notice, pattern.tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_known_in_many_languages() {
        for (line, expected) in [
            ("Messages and calls are end-to-end encrypted. Tap to learn more.", "en"),
            ("Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.", "de"),
            ("訊息和通話經端對端加密。", "zh-TW"),
            ("消息和通话都进行端到端加密。", "zh-CN"),
            ("메시지 및 전화는 종단간 암호화되어 안전합니다.", "ko"),
            ("Anna hat die Gruppe „Familie“ erstellt.", "de"),
            ("Anna created group “Family”", "en"),
        ] {
            let (notice, tag) = notice(line).unwrap();
            assert!(notice.is_beginning(), "{line}");
            assert_eq!(tag, expected, "{line}");
        }
    }

    #[test]
    fn other_lines_tell_nothing() {
        assert_eq!(notice("Anna changed their phone number"), None);
        assert_eq!(notice(&"created group ".repeat(1_000)), None);
    }
}
