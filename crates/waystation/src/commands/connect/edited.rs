//! A file after a change.

use anyhow::Result;
use serde_json::Value;

use super::json_text::JsonText;
use super::record::Changes;

/// A file after a change, what has to be remembered of it, and what could not be done.
#[derive(Debug)]
pub(super) struct Edited {
    /// The new text.
    pub(super) text: String,
    /// What undoing it needs to know.
    pub(super) changes: Changes,
    /// What stays because it is not ours, in words.
    pub(super) left: Vec<String>,
}

impl Edited {
    /// The file as it was.
    pub(super) fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), changes: Changes::default(), left: Vec::new() }
    }
}

/// Takes a container out that nothing is left in, if we made it; where nobody remembers, too.
pub(super) fn drop_if_empty(
    json: &mut JsonText,
    path: &[&str],
    made: Option<&Changes>,
) -> Result<()> {
    let is_empty = match json.at(path) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    };
    let is_ours = made.is_none_or(|made| made.made.contains(&path.join(".")));
    if is_empty && is_ours { json.remove(path) } else { Ok(()) }
}
