//! Metadata read as facts. Every field may be missing, of another type or absurd; that is no error.

use protocol::{MessageId, ThreadStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::commits::Pushed;
use super::event::{Event, STATUS_CHANGED};
use super::text;
use protocol::limits::summary as limits;

/// The metadata of one event.
#[derive(Debug, Default)]
pub(super) struct Facts(Map<String, Value>);

/// What an event says it is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reference {
    /// A message.
    Id(MessageId),
    /// A `seq`, or the label that a finding was reported with.
    Word(String),
    /// Something that names nothing.
    Unreadable,
}

/// What a rejection says it turns down, in `metadata.scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Fix,
    Finding,
}

/// Where a finding lies. Empty text means that it was not said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) task: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) line: String,
}

impl Place {
    /// Whether both say the same file and line, and no two tasks.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        !self.file.is_empty()
            && self.file == other.file
            && self.line == other.line
            && self.may_share_task(other)
    }

    /// Whether the tasks agree, or one side does not say.
    pub(super) fn may_share_task(&self, other: &Self) -> bool {
        self.task.is_empty() || other.task.is_empty() || self.task == other.task
    }

    /// `file:line`, `file`, or nothing.
    pub(super) fn location(&self) -> Option<String> {
        match (self.file.as_str(), self.line.as_str()) {
            ("", _) => None,
            (file, "") => Some(file.to_owned()),
            (file, line) => Some(format!("{file}:{line}")),
        }
    }
}

impl Facts {
    /// Reads the text of a JSON object; anything else has no facts.
    pub(super) fn read(metadata: Option<&str>) -> Self {
        metadata.and_then(|text| serde_json::from_str(text).ok()).map(Self).unwrap_or_default()
    }

    /// What the event says.
    pub(super) fn event(&self) -> Option<Event> {
        self.0.get("event_type").and_then(Value::as_str).and_then(Event::from_name)
    }

    /// Where the thread was moved. Only the hub's own word is to be asked for it.
    pub(super) fn moved_to(&self) -> Option<ThreadStatus> {
        let name = self.0.get("event_type").and_then(Value::as_str);
        let to = self.0.get("to").filter(|_| name == Some(STATUS_CHANGED));
        to.and_then(|to| ThreadStatus::deserialize(to).ok())
    }

    /// The findings it names: `finding_id`, `finding_ids` and `fixes`, each one value or a list.
    pub(super) fn references(&self) -> Vec<Reference> {
        let mut references = Vec::new();
        for value in self.values(&["finding_id", "finding_ids", "fixes"]) {
            let reference = reference(value);
            if !references.contains(&reference) {
                references.push(reference);
            }
            if references.len() >= limits::EVENT_REFERENCES_MAX {
                break;
            }
        }
        references
    }

    /// The sender's own name for a finding it reports.
    pub(super) fn label(&self) -> String {
        match self.0.get("finding_id").map(reference) {
            Some(Reference::Word(label)) => label,
            _ => String::new(),
        }
    }

    /// The commits it names: `commit` and `commits`, each one value or a list.
    pub(super) fn commits(&self) -> Pushed {
        self.values(&["commit", "commits"])
            .filter_map(|value| word(value).and_then(|word| text::commit(&word)))
            .collect()
    }

    /// Where it lies.
    pub(super) fn place(&self) -> Place {
        Place {
            task: self.tag("task_id"),
            file: self
                .0
                .get("file")
                .and_then(Value::as_str)
                .map_or_else(String::new, text::file_name),
            line: self.tag("line"),
        }
    }

    /// How grave it is, as the sender says.
    pub(super) fn severity(&self) -> String {
        self.tag("severity").to_lowercase()
    }

    /// Whether it must be settled before the work goes on: `blocking`, else a grave severity.
    pub(super) fn is_blocking(&self) -> bool {
        self.0
            .get("blocking")
            .and_then(Value::as_bool)
            .unwrap_or_else(|| matches!(self.severity().as_str(), "critical" | "high"))
    }

    /// What a rejection says it turns down.
    pub(super) fn scope(&self) -> Option<Scope> {
        match self.tag("scope").to_lowercase().as_str() {
            "fix" => Some(Scope::Fix),
            "finding" => Some(Scope::Finding),
            _ => None,
        }
    }

    fn tag(&self, key: &str) -> String {
        let said = self.0.get(key).and_then(word).unwrap_or_default();
        text::one_line(&said, limits::TAG_BYTES_MAX)
    }

    fn values<'a>(&'a self, keys: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        keys.iter()
            .filter_map(|key| self.0.get(*key))
            .flat_map(|value| match value {
                Value::Array(values) => values.as_slice(),
                single => std::slice::from_ref(single),
            })
            .filter(|value| !value.is_null())
    }
}

fn reference(value: &Value) -> Reference {
    let Some(word) = word(value) else { return Reference::Unreadable };
    if let Ok(id) = word.trim().parse() {
        return Reference::Id(id);
    }
    match text::one_line(&word, limits::TAG_BYTES_MAX) {
        word if word.is_empty() => Reference::Unreadable,
        word => Reference::Word(word),
    }
}

/// A text or number, as text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(json: &str) -> Facts {
        Facts::read(Some(json))
    }

    #[test]
    fn blocking_is_what_is_said_else_a_grave_severity() {
        assert!(facts(r#"{"severity":"Critical"}"#).is_blocking());
        assert!(facts(r#"{"severity":"high"}"#).is_blocking());
        assert!(!facts(r#"{"severity":"medium"}"#).is_blocking());
        assert!(!facts(r#"{"severity":"high","blocking":false}"#).is_blocking());
        assert!(facts(r#"{"severity":"low","blocking":true}"#).is_blocking());
        assert!(facts(r#"{"severity":"high","blocking":"no idea"}"#).is_blocking());
        assert!(!facts("{}").is_blocking());
    }

    #[test]
    fn references_come_as_one_value_or_a_list_of_ids_and_numbers() {
        let id = "msg_01JXYZ00000000000000000000";
        let read = facts(&format!(r#"{{"finding_ids":["{id}",27,"27",null],"fixes":{{}}}}"#));
        let known = Reference::Id(id.parse().unwrap());
        assert_eq!(
            read.references(),
            [known, Reference::Word("27".to_owned()), Reference::Unreadable]
        );
        assert!(facts(r#"{"finding_id":null,"fixes":[]}"#).references().is_empty());
    }

    #[test]
    fn a_place_is_the_same_when_file_and_line_are_and_the_tasks_do_not_differ() {
        let place = |json| facts(json).place();
        let here = place(r#"{"file":"a.rs","line":4,"task_id":"T1"}"#);
        assert!(here.is_same(&place(r#"{"file":"a.rs","line":"4"}"#)));
        assert!(!here.is_same(&place(r#"{"file":"a.rs","line":4,"task_id":"T2"}"#)));
        assert!(!here.is_same(&place(r#"{"file":"a.rs"}"#)));
        assert!(!place(r#"{"line":4}"#).is_same(&place(r#"{"line":4}"#)));
        assert_eq!(here.location().as_deref(), Some("a.rs:4"));
    }

    #[test]
    fn text_that_is_no_object_has_no_facts() {
        for json in ["", "null", "[1]", "{", "7", "\"x\"", &"[".repeat(100_000)] {
            assert!(facts(json).event().is_none(), "{json}");
        }
    }
}
