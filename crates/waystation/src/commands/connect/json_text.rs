//! Changing a JSON file as a careful person would: every other line, and the order of all, stays.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::json_spans::{Element, Kind, Part, scan};

/// A JSON file's text.
pub(super) struct JsonText {
    text: String,
    value: Value,
    indent: String,
    newline: &'static str,
}

impl JsonText {
    /// Reads a text; an empty one is an empty object.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let value: Value = serde_json::from_str(text).context("it is not valid JSON")?;
        if !value.is_object() {
            bail!("it holds no JSON object");
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(Self { text: text.to_owned(), value, indent: indent_of(text), newline })
    }

    /// What stands at a place; in a list a part of the path is a number.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, key| match value {
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            other => other.get(key),
        })
    }

    /// The text of what stands at a place.
    pub(super) fn text_at(&self, path: &[&str]) -> Result<Option<&str>> {
        let root = self.scan()?;
        let Some(part) = find(&root, path) else { return Ok(None) };
        Ok(self.text.get(part.value.start..part.value.end))
    }

    /// The whole text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Puts a member there; objects on the way are made.
    pub(super) fn set<T: Serialize>(&mut self, path: &[&str], value: &T) -> Result<()> {
        let (name, parents) = path.split_last().context("a member has a name")?;
        self.make(parents, "{}")?;
        let root = self.scan()?;
        if let Some(part) = find(&root, path) {
            let margin = self.margin(part.start);
            let text = self.pretty(value, &margin)?;
            return self.splice(part.value.start, part.value.end, &text);
        }
        let parent = element(&root, parents).context("its object was made")?;
        self.insert(parent, Some(name), value, &path.join("."))
    }

    /// Puts an item at the end of a list; the list and objects on the way are made.
    pub(super) fn push<T: Serialize>(&mut self, path: &[&str], value: &T) -> Result<()> {
        self.make(path, "[]")?;
        let root = self.scan()?;
        let list = element(&root, path).context("its list was made")?;
        self.insert(list, None, value, &path.join("."))
    }

    /// Takes a member out, if it is there.
    pub(super) fn remove(&mut self, path: &[&str]) -> Result<()> {
        let (name, parents) = path.split_last().context("a member has a name")?;
        let root = self.scan()?;
        let Some(parent) = element(&root, parents) else { return Ok(()) };
        let found = parent.parts().iter().position(|part| part.key.as_deref() == Some(name));
        found.map_or(Ok(()), |index| self.cut(parent, index))
    }

    /// Takes the items out that are meant.
    pub(super) fn remove_items(
        &mut self,
        path: &[&str],
        is_meant: impl Fn(&Value) -> bool,
    ) -> Result<usize> {
        let mut removed = 0;
        loop {
            let items = self.at(path).and_then(Value::as_array);
            let Some(index) = items.and_then(|items| items.iter().position(&is_meant)) else {
                return Ok(removed);
            };
            let root = self.scan()?;
            let list = element(&root, path).context("the list was just read")?;
            self.cut(list, index)?;
            removed += 1;
        }
    }

    /// Makes what is missing on the way to a container, each as an empty object, the last as said.
    fn make(&mut self, path: &[&str], last: &str) -> Result<()> {
        for length in 1..=path.len() {
            let Some((name, parents)) = path.get(..length).and_then(|part| part.split_last())
            else {
                continue;
            };
            let root = self.scan()?;
            if find(&root, path.get(..length).unwrap_or_default()).is_some() {
                continue;
            }
            let empty = if length == path.len() { last } else { "{}" };
            let empty: Value = serde_json::from_str(empty).context("an empty container")?;
            let parent = element(&root, parents).context("its parent was made")?;
            self.insert(parent, Some(name), &empty, &parents.join("."))?;
        }
        Ok(())
    }

    fn insert<T: Serialize>(
        &mut self,
        parent: &Element,
        key: Option<&str>,
        value: &T,
        shown: &str,
    ) -> Result<()> {
        match (&parent.kind, key) {
            (Kind::Object(_), Some(_)) | (Kind::Array(_), None) => {}
            (_, Some(_)) => bail!("{shown} should be a JSON object"),
            (_, None) => bail!("{shown} should be a JSON list"),
        }
        let named = |text: String| -> Result<String> {
            key.map_or(Ok(text.clone()), |key| {
                Ok(format!("{}: {text}", serde_json::to_string(key)?))
            })
        };
        let (open, close) = if key.is_some() { ('{', '}') } else { ('[', ']') };
        let Some(last) = parent.parts().last() else {
            let outer = self.margin(parent.start);
            let inner = format!("{outer}{}", self.indent);
            let part = named(self.pretty(value, &inner)?)?;
            let newline = self.newline;
            let text = format!("{open}{newline}{inner}{part}{newline}{outer}{close}");
            return self.splice(parent.start, parent.end, &text);
        };
        let head = self.text.get(parent.start..last.start).unwrap_or_default();
        let text = if head.contains('\n') {
            let margin = self.margin(last.start);
            format!(",{}{margin}{}", self.newline, named(self.pretty(value, &margin)?)?)
        } else {
            format!(", {}", named(serde_json::to_string(value)?)?)
        };
        let end = last.value.end;
        self.splice(end, end, &text)
    }

    /// Takes one part out, with the comma that belongs to it.
    fn cut(&mut self, parent: &Element, index: usize) -> Result<()> {
        let parts = parent.parts();
        let part = parts.get(index).context("the part was just found")?;
        let before = index.checked_sub(1).and_then(|index| parts.get(index));
        let (start, end) = match (before, parts.get(index + 1)) {
            (Some(before), _) => (before.value.end, part.value.end),
            (None, Some(next)) => (part.start, next.start),
            (None, None) => (parent.start + 1, parent.end - 1),
        };
        self.splice(start, end, "")
    }

    fn splice(&mut self, start: usize, end: usize, with: &str) -> Result<()> {
        let (head, tail) = (self.text.get(..start), self.text.get(end..));
        let (Some(head), Some(tail)) = (head, tail) else {
            bail!("a part stands outside the text")
        };
        let text = format!("{head}{with}{tail}");
        self.value = serde_json::from_str(&text).context("the change would break the file")?;
        self.text = text;
        Ok(())
    }

    fn scan(&self) -> Result<Element> {
        scan(&self.text).context("it is not valid JSON")
    }

    /// The white space before the line that a byte stands on.
    fn margin(&self, at: usize) -> String {
        let head = self.text.get(..at).unwrap_or_default();
        let line = head.rsplit('\n').next().unwrap_or_default();
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }

    fn pretty<T: Serialize>(&self, value: &T, margin: &str) -> Result<String> {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
        let text = String::from_utf8(bytes).context("JSON is UTF-8")?;
        Ok(text.replace('\n', &format!("{}{margin}", self.newline)))
    }
}

fn element<'a>(root: &'a Element, path: &[&str]) -> Option<&'a Element> {
    path.iter().try_fold(root, |element, key| match &element.kind {
        Kind::Array(items) => Some(&items.get(key.parse::<usize>().ok()?)?.value),
        _ => Some(&element.member(key)?.value),
    })
}

fn find<'a>(root: &'a Element, path: &[&str]) -> Option<&'a Part> {
    let (name, parents) = path.split_last()?;
    element(root, parents)?.member(name)
}

/// How far the first member stands from the margin: what a level of this file is.
fn indent_of(text: &str) -> String {
    let indent: String = text
        .split_once('\n')
        .map(|(_, rest)| rest.chars().take_while(|c| matches!(c, ' ' | '\t')).collect())
        .unwrap_or_default();
    if indent.is_empty() { "  ".to_owned() } else { indent }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut JsonText) -> Result<()>) -> String {
        let mut json = JsonText::parse(text).unwrap();
        edit(&mut json).unwrap();
        json.into_text()
    }

    #[test]
    fn a_member_is_added_in_the_style_of_the_file() {
        let added = |text: &str| edited(text, |json| json.set(&["z", "y"], &json!([1])));
        assert_eq!(added(""), "{\n  \"z\": {\n    \"y\": [\n      1\n    ]\n  }\n}\n");
        assert_eq!(
            added("{\n\t\"b\": 1,\n\t\"a\": 2\n}"),
            "{\n\t\"b\": 1,\n\t\"a\": 2,\n\t\"z\": {\n\t\t\"y\": [\n\t\t\t1\n\t\t]\n\t}\n}"
        );
        assert_eq!(added("{\"b\":1}"), "{\"b\":1, \"z\": {\n  \"y\": [\n    1\n  ]\n}}");
        assert!(added("{\r\n  \"b\": 1\r\n}\r\n").contains("1,\r\n  \"z\": {\r\n"));
    }

    #[test]
    fn what_was_added_can_be_taken_out_again_to_the_byte() {
        for text in ["{\n    \"b\": [ 1,2 ],\n    \"a\": {\"x\": []}\n}\n", "{\"b\": 1}", "{}\n"] {
            let changed = edited(text, |json| {
                json.push(&["new", "list"], &json!({ "k": "v" }))?;
                json.set(&["other"], &json!(true))?;
                json.set(&["other"], &json!(false))
            });
            let back = edited(&changed, |json| {
                json.remove(&["other"])?;
                assert_eq!(json.remove_items(&["new", "list"], |item| item["k"] == "v")?, 1);
                json.remove(&["new"])
            });
            assert_eq!(back, text);
        }
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        assert!(JsonText::parse("{ // a comment\n}").is_err());
        assert!(JsonText::parse("[]").is_err());
        let mut json = JsonText::parse("{\"hooks\": null, \"l\": {}}").unwrap();
        let error = json.push(&["hooks", "Stop"], &json!(1)).unwrap_err().to_string();
        assert!(error.contains("hooks should be a JSON object"), "{error}");
        assert!(json.push(&["l"], &json!(1)).is_err());
    }
}
