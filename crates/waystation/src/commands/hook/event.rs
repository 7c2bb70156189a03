//! What a hook is told on its standard input. Claude Code and Codex use the same names.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Bytes of a hook's input; a prompt that somebody pasted is among them.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How every notice begins.
const NOTICE: &str = "[waystation wake ";
/// Wakes that one prompt may bring.
const WAKES_MAX: usize = 16;

/// Something that happened in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    /// The program's own name for the session.
    pub(crate) session_id: String,
    /// Where it writes down what is said.
    pub(crate) transcript_path: Option<PathBuf>,
    /// The folder it works in.
    pub(crate) cwd: Option<String>,
    /// What happened.
    pub(crate) hook_event_name: String,
    /// What somebody said to the agent.
    pub(crate) prompt: String,
    /// What a notification is about.
    pub(crate) notification_type: String,
}

/// What a session does, as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doing {
    /// `active`, `idle` or `offline`.
    pub(crate) status: &'static str,
    /// Whether it asks its human something.
    pub(crate) has_dialog: bool,
}

impl Doing {
    /// In a turn.
    pub(crate) const ACTIVE: Self = Self { status: "active", has_dialog: false };
    /// Asking its human something; whoever comes now would stand in line behind the answer.
    pub(crate) const ASKING: Self = Self { status: "active", has_dialog: true };
    /// Waiting for its human.
    pub(crate) const IDLE: Self = Self { status: "idle", has_dialog: false };
    /// Gone.
    pub(crate) const OFFLINE: Self = Self { status: "offline", has_dialog: false };
}

impl Event {
    /// Reads it.
    pub(crate) fn read(input: impl Read) -> Result<Self> {
        let mut text = Vec::new();
        input.take(INPUT_BYTES_MAX).read_to_end(&mut text).context("its input cannot be read")?;
        let event: Self = serde_json::from_slice(&text).context("its input is not what it was")?;
        anyhow::ensure!(!event.session_id.is_empty(), "its input names no session");
        Ok(event)
    }

    /// What the session does by that; nothing when it says nothing about it.
    pub(crate) fn doing(&self) -> Option<Doing> {
        Some(match self.hook_event_name.as_str() {
            "UserPromptSubmit" | "PreToolUse" | "PostToolUse" => Doing::ACTIVE,
            "SessionStart" | "Stop" | "StopFailure" | "Interrupt" => Doing::IDLE,
            "SessionEnd" => Doing::OFFLINE,
            "PermissionRequest" => Doing::ASKING,
            "Notification" => match self.notification_type.as_str() {
                "permission_prompt" | "elicitation_dialog" => Doing::ASKING,
                "idle_prompt" => Doing::IDLE,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The wakes whose notices are in what was said: their turn begins now.
    pub(crate) fn wakes(&self) -> Vec<&str> {
        if self.hook_event_name != "UserPromptSubmit" {
            return Vec::new();
        }
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let notices = self.prompt.split(NOTICE).skip(1).take(WAKES_MAX);
        let ids = notices.map(|rest| rest.split(ends).next().unwrap_or_default());
        ids.filter(|id| id.starts_with("wk_")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str) -> Event {
        let all = include_str!("events.jsonl");
        let line = all.lines().find(|line| line.contains(&format!("\"{name}\"")));
        Event::read(line.unwrap().as_bytes()).unwrap()
    }

    #[test]
    fn what_the_real_program_says_is_understood() {
        let doing = |name: &str| recorded(name).doing();
        assert_eq!(doing("SessionStart"), Some(Doing::IDLE));
        assert_eq!(doing("UserPromptSubmit"), Some(Doing::ACTIVE));
        assert_eq!(doing("PermissionRequest"), Some(Doing::ASKING));
        assert_eq!(doing("permission_prompt"), Some(Doing::ASKING));
        assert_eq!(doing("Stop"), Some(Doing::IDLE));
        assert_eq!(doing("SessionEnd"), Some(Doing::OFFLINE));
        let start = recorded("SessionStart");
        assert_eq!(start.session_id, "e261be10-2099-45ef-8421-1feca2044f3f");
        assert_eq!(start.cwd.as_deref(), Some("/srv/project"));
        assert!(
            start.transcript_path.unwrap().ends_with("e261be10-2099-45ef-8421-1feca2044f3f.jsonl")
        );
    }

    #[test]
    fn a_prompt_names_the_wakes_that_brought_it() {
        assert_eq!(recorded("UserPromptSubmit").wakes(), ["wk_4"]);
        assert!(recorded("Stop").wakes().is_empty());
        let prompt =
            "say wk_1; [waystation wake wk_2] and [waystation wake rm -rf] [waystation wake wk_3";
        let event = Event { prompt: prompt.to_owned(), ..recorded("UserPromptSubmit") };
        assert_eq!(event.wakes(), ["wk_2", "wk_3"]);
    }

    #[test]
    fn events_that_say_nothing_and_inputs_that_are_none_are_told_apart() {
        let event = |text: &str| Event::read(text.as_bytes());
        let unknown = event(r#"{"session_id":"s","hook_event_name":"TeammateIdle","new":{}}"#);
        assert_eq!(unknown.unwrap().doing(), None);
        for broken in ["", "[]", "{}", "{\"session_id\":", "null", "{\"session_id\":7}"] {
            assert!(event(broken).is_err(), "{broken}");
        }
    }
}
