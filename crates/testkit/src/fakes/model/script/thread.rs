//! What `read_messages` returned, in whichever shape the CLI hands it to its model.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::fakes::model::wake::Wake;

/// What stands in the thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Read {
    /// The highest number that was read.
    pub(super) last_seq: i64,
    newest: Option<String>,
    ids: BTreeMap<String, String>,
}

impl Read {
    /// Reads a result: the hub's JSON, or the text beside it.
    pub(super) fn of(text: &str, wake: &Wake) -> Self {
        let ids = [("thread", &wake.thread), ("wake", &wake.id)];
        let ids = ids.map(|(name, id)| (name.to_owned(), id.clone())).into_iter().collect();
        let mut read = Self { ids, ..Self::default() };
        match json_in(text) {
            Some(answer) => {
                let messages = answer.get("messages").and_then(Value::as_array);
                for message in messages.map_or(&[][..], Vec::as_slice) {
                    let word = |name: &str| message.get(name).and_then(Value::as_str);
                    let event = message.pointer("/metadata/event_type").and_then(Value::as_str);
                    let seq = message.get("seq").and_then(Value::as_i64).unwrap_or_default();
                    let id = word("message_id").unwrap_or_default();
                    read.take(wake, seq, word("sender_agent_id").unwrap_or_default(), event, id);
                }
            }
            None => text.lines().for_each(|line| read.take_line(wake, line)),
        }
        read
    }

    /// What the newest message of others is.
    pub(super) fn newest_kind(&self) -> &str {
        self.newest.as_deref().unwrap_or("nothing")
    }

    /// Puts ids where names in braces stand.
    pub(super) fn fill(&self, with: &Map<String, Value>) -> Value {
        let fields =
            with.iter().filter_map(|(name, value)| Some((name.clone(), self.value(value)?)));
        Value::Object(fields.collect())
    }

    fn value(&self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => {
                let mut filled = text.clone();
                for (name, id) in &self.ids {
                    filled = filled.replace(&format!("{{{name}}}"), id);
                }
                let is_open = filled.starts_with('{') && filled.ends_with('}');
                (!is_open).then_some(Value::String(filled))
            }
            Value::Object(fields) => Some(self.fill(fields)),
            other => Some(other.clone()),
        }
    }

    /// A line of the text: `#1 2026-… ada (event) {"event_type":"fix_pushed"}: body`.
    fn take_line(&mut self, wake: &Wake, line: &str) {
        let Some(rest) = line.strip_prefix('#') else { return };
        let mut words = rest.splitn(4, ' ');
        let Some(seq) = words.next().and_then(|seq| seq.parse().ok()) else { return };
        let sender = words.nth(1).unwrap_or_default();
        let event = rest.split_once("\"event_type\":\"").map(|(_, rest)| rest);
        let event = event.and_then(|rest| rest.split('"').next());
        self.take(wake, seq, sender, event, "");
    }

    fn take(&mut self, wake: &Wake, seq: i64, sender: &str, event: Option<&str>, id: &str) {
        self.last_seq = self.last_seq.max(seq);
        if sender == wake.agent {
            return;
        }
        let kind = event.unwrap_or("chat");
        self.newest = Some(kind.to_owned());
        if !id.is_empty() {
            self.ids.insert("newest".to_owned(), id.to_owned());
            self.ids.insert(format!("event:{kind}"), id.to_owned());
        }
    }
}

/// The JSON object in a text; CLIs put words before it.
fn json_in(text: &str) -> Option<Value> {
    let begin = text.find('{')?;
    let mut values = serde_json::Deserializer::from_str(text.get(begin..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    value.get("messages").is_some().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wake() -> Wake {
        let (id, thread) = ("wk_1".to_owned(), "th_1".to_owned());
        Wake { id, thread, agent: "ada".to_owned(), since_seq: 0 }
    }

    #[test]
    fn both_shapes_of_a_result_say_the_same() {
        let text = "#3 2026-11-15T14:48:13.470Z ben (event) {\"event_type\":\"fix_pushed\"}: hi\n#4 x ada (chat): own\n";
        let json = json!({ "messages": [
            { "seq": 3, "sender_agent_id": "ben", "message_id": "msg_3", "metadata": { "event_type": "fix_pushed" } },
            { "seq": 4, "sender_agent_id": "ada", "message_id": "msg_4" },
        ]});
        for text in [text.to_owned(), format!("Wall time: 1 s\nOutput:\n{json}")] {
            let read = Read::of(&text, &wake());
            assert_eq!((read.last_seq, read.newest_kind()), (4, "fix_pushed"));
        }
    }

    #[test]
    fn names_are_filled_and_unknown_ones_left_out() {
        let json =
            json!({ "messages": [{ "seq": 1, "sender_agent_id": "ben", "message_id": "msg_1" }] });
        let read = Read::of(&json.to_string(), &wake());
        let with = json!({ "a": "{newest}", "b": "x-{wake}", "c": "{event:fix_pushed}", "d": { "e": "{thread}" } });
        let filled = read.fill(with.as_object().unwrap());
        assert_eq!(filled, json!({ "a": "msg_1", "b": "x-wk_1", "d": { "e": "th_1" } }));
    }
}
