//! Putting the file and the variables together. What is wrong is named without its value, which may
//! be a password.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::environment::{Environment, PREFIX};

/// What the file says, if there is one.
pub(super) fn file(path: &Path, must_exist: bool) -> Result<Table> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    // The parser's error shows the line itself.
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.split('\n').count();
        anyhow!("line {line} of {} is not valid TOML: {}", path.display(), error.message())
    })
}

/// The settings of a file where no variable overrides them.
pub(super) fn with_environment<T: DeserializeOwned>(
    mut table: Table,
    file: &Path,
    environment: &Environment,
) -> Result<T> {
    for (name, text) in environment.settings() {
        set(&mut table, name, typed(text))?;
    }
    let mut plain = BTreeSet::new();
    loop {
        let wrong = match serde_path_to_error::deserialize(table.clone()) {
            Ok(settings) => return Ok(settings),
            Err(wrong) => wrong,
        };
        let path = wrong.path().to_string();
        let what = without_value(wrong.inner().message());
        let Some((name, text)) = environment.settings().find(|(name, _)| leads_to(name, &path))
        else {
            bail!("{path} in {} is wrong: {what}", file.display());
        };
        // A key or a password may look like a number or a date.
        let may_be_text =
            path == dotted(name) && !matches!(typed(text), Value::Array(_) | Value::Table(_));
        if !may_be_text || !plain.insert(name) {
            bail!("{} is wrong: {what}", variable(name));
        }
        set(&mut table, name, Value::String(text.to_owned()))?;
    }
}

/// Sets a key, which may stand in tables.
fn set(table: &mut Table, name: &str, value: Value) -> Result<()> {
    let (path, last) =
        name.rsplit_once("__").map_or((None, name), |(path, last)| (Some(path), last));
    let mut target = table;
    for part in path.into_iter().flat_map(|path| path.split("__")) {
        let entry = target.entry(part).or_insert_with(|| Value::Table(Table::new()));
        target = entry
            .as_table_mut()
            .with_context(|| format!("{}: {part} is not a table", variable(name)))?;
    }
    target.insert(last.to_owned(), value);
    Ok(())
}

/// The value of a variable: TOML, or plain text where that is none.
fn typed(text: &str) -> Value {
    let read = format!("v = {text}").parse::<Table>().ok();
    let value = read.and_then(|mut table| table.remove("v"));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Whether what is wrong is the value of this variable, or stands in it.
fn leads_to(name: &str, path: &str) -> bool {
    let rest = path.strip_prefix(&dotted(name));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn dotted(name: &str) -> String {
    name.replace("__", ".")
}

fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// The parser's words without what it found, which stands before what it expected.
fn without_value(message: &str) -> String {
    let shows = ["invalid type: ", "invalid value: ", "unknown variant `"];
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    match expected.filter(|_| shows.iter().any(|shown| message.starts_with(shown))) {
        Some(expected) => format!("expected {expected}"),
        None => message.to_owned(),
    }
}
