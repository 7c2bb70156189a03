//! What a context is made of.

use connector_api::session::SessionLayer;
use protocol::Timestamp;
use serde_json::{Map, Value};

/// Everything that may go into a context, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Material {
    /// The operator's own words.
    pub(super) system: String,
    /// What was said before the live message.
    pub(super) turns: Vec<Turn>,
    /// A layer that is kept, and was made of these turns or of those up to some of them.
    pub(super) kept: Option<SessionLayer>,
    /// What the task is about, while it is open.
    pub(super) task: Option<String>,
    /// The calls of this task, each with its result.
    pub(super) pairs: Vec<Pair>,
    /// The documents that this task was given.
    pub(super) refs: Vec<Reference>,
    /// What the live message comes to, in bytes; nothing of it is ever cut.
    pub(super) live_bytes: usize,
}

/// Something that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// Its number.
    pub(super) seq: i64,
    /// When it was said.
    pub(super) at: Timestamp,
    /// Who spoke.
    pub(super) speaker: Speaker,
    /// The name of whoever spoke.
    pub(super) sender: String,
    /// What was said.
    pub(super) text: String,
    /// Whether a human decided something with it.
    pub(super) is_approval: bool,
}

/// Who spoke, as the hub knows, whatever the message says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A human with authority.
    Human,
    /// Somebody outside.
    #[default]
    User,
    /// An agent.
    Assistant,
    /// A tool.
    Tool,
    /// The hub.
    System,
}

impl Speaker {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// How much what is said by such a one counts.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Human => 0.3,
            Self::User => 0.2,
            Self::Assistant => 0.1,
            Self::Tool | Self::System => 0.0,
        }
    }
}

/// A call of a tool and its result. They stay together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pair {
    /// The call.
    pub(super) id: String,
    /// The message that holds the whole result.
    pub(super) message_id: String,
    /// The tool.
    pub(super) name: String,
    /// What it was given.
    pub(super) args: Map<String, Value>,
    /// What it answered.
    pub(super) result: Value,
}

/// A document that was given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    /// What `[[ref:…]]` cites.
    pub(super) id: String,
    /// How well it fits.
    pub(super) score: f64,
}
