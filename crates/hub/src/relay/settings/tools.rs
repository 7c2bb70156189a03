//! What an operator chooses about tools that agents call: how long each may take, and which way a
//! failure takes.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::limits::relay as limits;

/// What an operator chooses about tools that agents call.
#[derive(Clone, Debug, Default)]
pub struct ToolSettings {
    /// What holds for every tool that has no rule of its own.
    pub every: ToolRule,
    /// What holds for single tools, by their names.
    pub by_name: BTreeMap<String, ToolRule>,
}

/// What holds for a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRule {
    /// How long it may take.
    pub timeout: Duration,
    /// What is done after a failure, one after the other.
    pub fallback: Vec<Way>,
}

impl Default for ToolRule {
    fn default() -> Self {
        Self { timeout: limits::TOOL_TIMEOUT, fallback: vec![Way::Retry, Way::Human] }
    }
}

impl ToolSettings {
    /// What holds for a tool.
    pub fn rule(&self, tool: &str) -> &ToolRule {
        self.by_name.get(tool).unwrap_or(&self.every)
    }
}

/// A way that a call takes after a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// The same tool once more.
    Retry,
    /// Another tool, with the same arguments.
    Tool(String),
    /// An agent, which finds it in the queue of its name.
    Agent(String),
    /// A human.
    Human,
}

/// The text names no way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no way after a failure; write retry, tool:NAME, agent:NAME or human")]
pub struct UnknownWay(pub String);

impl std::str::FromStr for Way {
    type Err = UnknownWay;

    fn from_str(text: &str) -> Result<Self, UnknownWay> {
        let named = |name: &str| !name.is_empty() && !name.chars().any(char::is_whitespace);
        match (text, text.split_once(':')) {
            ("retry", _) => Ok(Self::Retry),
            ("human", _) => Ok(Self::Human),
            (_, Some(("tool", name))) if named(name) => Ok(Self::Tool(name.to_owned())),
            (_, Some(("agent", name))) if named(name) => Ok(Self::Agent(name.to_owned())),
            _ => Err(UnknownWay(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Retry => f.write_str("retry"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Human => f.write_str("human"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_survives_its_text() {
        for text in ["retry", "human", "tool:search_messages", "agent:triage"] {
            assert_eq!(text.parse::<Way>().unwrap().to_string(), text);
        }
        for bad in ["", "tool:", "agent: x", "again", "human:ada"] {
            assert!(bad.parse::<Way>().is_err(), "{bad}");
        }
    }
}
