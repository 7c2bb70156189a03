//! Taking personal data out of JSON, where the name of a field tells what its value is.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::class::Counts;
use super::find::Redactor;

impl Redactor {
    /// The object with a token in place of each finding, in values and in names.
    pub fn redact_object(&self, object: &Map<String, Value>) -> (Map<String, Value>, Counts) {
        let mut counts = Counts::default();
        let clean = self.object(object, "", &mut counts);
        (clean, counts)
    }

    fn object(
        &self,
        object: &Map<String, Value>,
        path: &str,
        counts: &mut Counts,
    ) -> Map<String, Value> {
        let mut clean = Map::new();
        for (name, value) in object {
            let redacted = self.redact(name);
            counts.add_all(&redacted.counts);
            // The name around a field speaks for it as well: `{"phone": {"value": "…"}}`.
            let inner = format!("{path}{name}: ");
            clean.insert(redacted.text.into_owned(), self.value(value, &inner, counts));
        }
        clean
    }

    fn value(&self, value: &Value, path: &str, counts: &mut Counts) -> Value {
        match value {
            Value::String(text) => self.leaf(text, path, counts).into_owned().into(),
            Value::Number(number) => {
                let spelled = number.to_string();
                match self.leaf(&spelled, path, counts) {
                    Cow::Borrowed(_) => value.clone(),
                    Cow::Owned(token) => Value::String(token),
                }
            }
            Value::Array(items) => {
                items.iter().map(|item| self.value(item, path, counts)).collect()
            }
            Value::Object(fields) => Value::Object(self.object(fields, path, counts)),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn leaf<'a>(&self, text: &'a str, path: &str, counts: &mut Counts) -> Cow<'a, str> {
        let redacted = self.redact_after(path, text);
        counts.add_all(&redacted.counts);
        redacted.text
    }
}
