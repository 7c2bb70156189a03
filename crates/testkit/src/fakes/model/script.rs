//! By what the model answers: rules, found by who is woken and what stands newest in the thread.

mod thread;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::thread::Read;
use super::Reply;
use super::conversation::{Conversation, Entry};
use super::wake::{self, Wake};

/// What a model answers by.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// How long the model thinks about each answer.
    pub delay_ms: u64,
    /// What it does; the first rule that fits counts.
    pub rules: Vec<Rule>,
}

/// What an agent does about something.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Who; anybody when left out.
    pub agent: Option<String>,
    /// The `event_type` of the newest message of others, `chat`, or `*`. For what a human types:
    /// `prompt:` and a part of it.
    pub when: String,
    /// What it calls, in this order, between `read_messages` and `ack_read`.
    pub steps: Vec<Step>,
    /// How it ends the turn.
    pub say: Option<String>,
    /// How long the model thinks, instead of the script's.
    pub delay_ms: Option<u64>,
}

/// A tool of the hub that is called.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Its name, as the hub has it.
    pub call: String,
    /// What it is called with. In texts, `{thread}`, `{wake}`, `{newest}` and `{event:TYPE}` stand for
    /// ids; a field that would hold an unknown one is left out.
    pub with: Map<String, Value>,
}

/// An answer, and what it is part of.
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) delay_ms: u64,
    pub(super) turn: Turn,
}

/// Where a turn stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// The wake that began it.
    pub(super) wake: Option<String>,
    /// How many tools were called in it.
    pub(super) calls: usize,
}

/// What made the model work.
enum Cause {
    Wake(Wake),
    Prompt(usize),
}

impl Script {
    pub(super) fn answer(&self, conversation: &Conversation) -> Answer {
        let plain =
            |turn| Answer { reply: Reply::Say("done".to_owned()), delay_ms: self.delay_ms, turn };
        let entries = conversation.turn();
        if conversation.tools.is_empty() {
            return self.aside(entries).unwrap_or_else(|| plain(Turn::default()));
        }
        let Some((at, cause)) = self.cause(entries) else { return plain(Turn::default()) };
        let done = results(entries.get(at..).unwrap_or_default());
        let step = done.iter().filter(|(name, _)| name != "ToolSearch").count();
        match cause {
            Cause::Prompt(rule) => {
                let rule = self.rules.get(rule);
                let next = rule.and_then(|rule| rule.steps.get(step));
                self.go_on(
                    conversation,
                    &done,
                    Turn { wake: None, calls: done.len() },
                    rule,
                    next.map(with_itself),
                )
            }
            Cause::Wake(wake) => {
                let turn = Turn { wake: Some(wake.id.clone()), calls: done.len() };
                let read = done.iter().find(|(name, _)| name.ends_with("read_messages"));
                let Some((_, text)) = read else {
                    let with = json!({ "thread_id": wake.thread, "since_seq": wake.since_seq });
                    let next = Some(("read_messages", with));
                    return self.go_on(conversation, &done, turn, None, next);
                };
                let read = Read::of(text, &wake);
                let rule = self.rule(&wake.agent, read.newest_kind());
                let steps = rule.map_or(&[][..], |rule| rule.steps.as_slice());
                let next = match step.checked_sub(1) {
                    Some(index) if index < steps.len() => {
                        steps.get(index).map(|step| (step.call.as_str(), read.fill(&step.with)))
                    }
                    Some(index) if index == steps.len() && read.last_seq > 0 => {
                        let with =
                            json!({ "thread_id": wake.thread, "last_read_seq": read.last_seq });
                        Some(("ack_read", with))
                    }
                    _ => None,
                };
                self.go_on(conversation, &done, turn, rule, next)
            }
        }
    }

    /// What is answered to a question on the side, if a rule is for it.
    fn aside(&self, entries: &[Entry]) -> Option<Answer> {
        let (_, cause) = self.cause(entries)?;
        let Cause::Prompt(rule) = cause else { return None };
        let say = self.rules.get(rule)?.say.clone()?;
        Some(Answer { reply: Reply::Say(say), delay_ms: self.delay_ms, turn: Turn::default() })
    }

    /// Calls what is next, looks for it first where the CLI hides tools, or ends the turn.
    fn go_on(
        &self,
        conversation: &Conversation,
        done: &[(String, String)],
        turn: Turn,
        rule: Option<&Rule>,
        next: Option<(&str, Value)>,
    ) -> Answer {
        let delay_ms = rule.and_then(|rule| rule.delay_ms).unwrap_or(self.delay_ms);
        let say = || rule.and_then(|rule| rule.say.clone()).unwrap_or_else(|| "done".to_owned());
        let reply = match next {
            None => Reply::Say(say()),
            Some((name, with)) => {
                match (conversation.ours(name), conversation.tool("ToolSearch")) {
                    (Some(tool), _) => Reply::Call { tool, with },
                    (None, Some(tool)) if !done.iter().any(|(name, _)| name == "ToolSearch") => {
                        Reply::Call {
                            tool,
                            with: json!({ "query": self.wanted(), "max_results": 10 }),
                        }
                    }
                    (None, _) => Reply::Say(format!("there is no tool {name}")),
                }
            }
        };
        Answer { reply, delay_ms, turn }
    }

    /// What to ask a CLI for that shows tools only when asked.
    fn wanted(&self) -> String {
        let calls = self.rules.iter().flat_map(|rule| &rule.steps).map(|step| step.call.as_str());
        let mut names: Vec<&str> = ["read_messages", "ack_read"].into_iter().chain(calls).collect();
        names.sort_unstable();
        names.dedup();
        let names: Vec<String> =
            names.into_iter().map(|name| format!("mcp__waystation__{name}")).collect();
        format!("select:{}", names.join(","))
    }

    fn cause(&self, entries: &[Entry]) -> Option<(usize, Cause)> {
        let of = |entry: &Entry| match entry {
            Entry::User(text) => {
                let prompt = || self.rules.iter().position(|rule| rule.is_for_prompt(text));
                wake::last(text).map(Cause::Wake).or_else(|| prompt().map(Cause::Prompt))
            }
            _ => None,
        };
        entries.iter().enumerate().rev().find_map(|(at, entry)| Some((at, of(entry)?)))
    }

    fn rule(&self, agent: &str, kind: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| {
            rule.agent.as_deref().is_none_or(|name| name == agent)
                && (rule.when == "*" || rule.when == kind)
        })
    }
}

impl Rule {
    fn is_for_prompt(&self, text: &str) -> bool {
        self.when.strip_prefix("prompt:").is_some_and(|part| text.contains(part))
    }
}

fn with_itself(step: &Step) -> (&str, Value) {
    (step.call.as_str(), Value::Object(step.with.clone()))
}

/// The calls among these that have returned: the tool's name, and what it returned.
fn results(entries: &[Entry]) -> Vec<(String, String)> {
    let returned = |wanted: &str| {
        entries.iter().find_map(|entry| match entry {
            Entry::Returned { id, text } if id == wanted => Some(text.clone()),
            _ => None,
        })
    };
    let calls = entries.iter().filter_map(|entry| match entry {
        Entry::Called { id, name } => Some((name.clone(), returned(id)?)),
        _ => None,
    });
    calls.collect()
}
