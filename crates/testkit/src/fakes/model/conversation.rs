//! What both APIs have in common: who said what, which tools were called, and what came back.

use serde_json::Value;

/// One thing in a conversation, in its order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// Text that reached the model as its user's: typed lines, notices, reminders.
    User(String),
    /// Text of the model, which ended a turn.
    Said,
    /// A tool the model called.
    Called {
        /// The API's own mark, by which the result is found.
        id: String,
        /// The tool.
        name: String,
    },
    /// What a tool returned.
    Returned {
        /// The call's mark.
        id: String,
        /// What it returned.
        text: String,
    },
}

/// A tool as the CLI offers it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// The group it stands in, for APIs that have groups.
    pub(super) namespace: Option<String>,
}

impl Tool {
    /// Whether it is this tool of ours: CLIs put the server's name before it, or group by server.
    fn is_ours(&self, name: &str) -> bool {
        if let Some(group) = &self.namespace {
            return group.contains("waystation") && self.name == name;
        }
        let prefix = self.name.strip_suffix(name);
        prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with("waystation__"))
    }
}

/// A conversation, as a request holds it.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    /// The CLI's own name for it.
    pub(super) session: String,
    /// What was said, the oldest first.
    pub(super) entries: Vec<Entry>,
    /// What the model may call. None: a question on the side, such as for a title.
    pub(super) tools: Vec<Tool>,
}

impl Conversation {
    /// A tool of the hub by its own name.
    pub(super) fn ours(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.is_ours(name)).cloned()
    }

    /// A tool of the CLI itself.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name && tool.namespace.is_none()).cloned()
    }

    /// What came since the model last ended a turn.
    pub(super) fn turn(&self) -> &[Entry] {
        let ended = self.entries.iter().rposition(|entry| *entry == Entry::Said);
        self.entries.get(ended.map_or(0, |at| at + 1)..).unwrap_or_default()
    }

    /// Everything that reached the model as its user's words.
    pub(super) fn user_texts(&self) -> impl Iterator<Item = &str> {
        texts(&self.entries)
    }
}

/// The user's words among these.
pub(super) fn texts(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().filter_map(|entry| match entry {
        Entry::User(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The text in whatever a tool returned: a string, or blocks that hold text.
pub(super) fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
