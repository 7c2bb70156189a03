//! Codex' `config.toml`: the MCP server, the program that hears of each turn's end, and the hooks.

use anyhow::{Context, Result, bail};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::record::Changes;
use super::station::{Station, is_our_line, is_our_program};
use super::{Edited, Scope};

/// The events that say what a session is doing.
pub(super) const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
/// A report that takes longer would hold a person up.
const REPORT_SECONDS: i64 = 10;
/// What a session's keeper puts into the environment; Codex hands on only what is named.
const VARIABLES: [&str; 6] = [
    "WAYSTATION_TOKEN",
    "WAYSTATION_TOKEN_FILE",
    "WAYSTATION_AGENT",
    "WAYSTATION_SESSION",
    "WAYSTATION_DATA",
    "WAYSTATION_CONFIG",
];

const SERVERS: &str = "mcp_servers";
const NAME: &str = "waystation";
const PLACE: &str = "mcp_servers.waystation";
const THEN: &str = "--then";

/// Adds the server, the hooks and, for a person, the notification, which calls the one before it.
pub(super) fn connect(text: &str, station: &Station, scope: Scope) -> Result<Edited> {
    let mut document: DocumentMut = text.parse().context("it is not valid TOML")?;
    let mut changes = Changes::default();
    set_server(&mut document, station, &mut changes)?;
    // Codex reads `notify` from the person's own file alone.
    if scope == Scope::User {
        set_notify(&mut document, station)?;
    }
    for event in EVENTS {
        set_hook(&mut document, event, station)?;
    }
    Ok(Edited { text: document.to_string(), changes, left: Vec::new() })
}

/// Takes out what `connect` put in.
pub(super) fn disconnect(text: &str, made: Option<&Changes>) -> Result<Edited> {
    let mut document: DocumentMut = text.parse().context("it is not valid TOML")?;
    let mut left = Vec::new();
    unset_server(&mut document, made, &mut left)?;
    unset_notify(&mut document, &mut left);
    for event in EVENTS {
        unset_hook(&mut document, event);
    }
    drop_empty(&mut document, "hooks");
    if document.get("hooks").is_some_and(|hooks| hooks.get("state").is_some()) {
        left.push("hooks.state, where Codex itself marks what you trust, stays".into());
    }
    Ok(Edited { text: document.to_string(), changes: Changes::default(), left })
}

/// Whether Codex has marked a hook of each event as trusted; it keeps the marks in the same file.
pub(super) fn are_hooks_trusted(text: &str) -> bool {
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    let marks = table.get("hooks").and_then(|hooks| hooks.get("state")?.as_table());
    let marks: Vec<&str> =
        marks.into_iter().flat_map(|marks| marks.keys().map(String::as_str)).collect();
    let names = ["session_start", "user_prompt_submit", "stop", "session_end"];
    names.iter().all(|name| marks.iter().any(|mark| mark.contains(&format!(":{name}:"))))
}

fn set_server(document: &mut DocumentMut, station: &Station, changes: &mut Changes) -> Result<()> {
    let found = document.get(SERVERS).and_then(|servers| servers.get(NAME));
    if let Some(found) = found
        && !is_our_server(found)
    {
        let mut fragment = DocumentMut::new();
        fragment.insert(SERVERS, table(&[(NAME, found.clone())]));
        changes.replaced.insert(PLACE.to_owned(), fragment.to_string());
    }
    let wanted = [
        ("command", value(station.program())),
        ("args", value(list(station.args(&["mcp"])))),
        ("env_vars", value(list(VARIABLES.map(str::to_owned)))),
        // Whoever is woken at night has nobody who could approve its reading.
        ("default_tools_approval_mode", value("approve")),
    ];
    let servers = document.entry(SERVERS).or_insert_with(|| table(&[]));
    let Some(servers) = servers.as_table_like_mut() else { bail!("{SERVERS} should be a table") };
    let is_ours = servers.get(NAME).is_some_and(is_our_server);
    if !is_ours {
        let mut server = Table::new();
        for (key, item) in wanted {
            server.insert(key, item);
        }
        servers.insert(NAME, Item::Table(server));
        return Ok(());
    }
    // What a person added to our entry stays.
    let Some(server) = servers.get_mut(NAME).and_then(Item::as_table_like_mut) else {
        bail!("{PLACE} should be a table");
    };
    for (key, item) in wanted {
        let same = server.get(key).is_some_and(|found| plain(found) == plain(&item));
        if !same {
            *server.entry(key).or_insert(Item::None) = item;
        }
    }
    Ok(())
}

fn unset_server(
    document: &mut DocumentMut,
    made: Option<&Changes>,
    left: &mut Vec<String>,
) -> Result<()> {
    let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) else {
        return Ok(());
    };
    match servers.get(NAME) {
        None => return Ok(()),
        Some(found) if !is_our_server(found) => {
            left.push(format!("{PLACE} does not start this program any more, so it stays"));
            return Ok(());
        }
        Some(_) => {}
    }
    servers.remove(NAME);
    if let Some(before) = made.and_then(|made| made.replaced.get(PLACE)) {
        let fragment: DocumentMut = before.parse().context("what stood there before is lost")?;
        let item = fragment.get(SERVERS).and_then(|servers| servers.get(NAME));
        servers.insert(NAME, item.cloned().context("what stood there before is lost")?);
    }
    drop_empty(document, SERVERS);
    Ok(())
}

fn is_our_server(server: &Item) -> bool {
    let command = server.get("command").and_then(Item::as_str);
    let args = server.get("args").and_then(Item::as_array);
    let first = args.and_then(|args| args.get(0)).and_then(Value::as_str);
    command.is_some_and(is_our_program) && first == Some("mcp")
}

fn set_notify(document: &mut DocumentMut, station: &Station) -> Result<()> {
    let before = match document.get("notify") {
        None => Vec::new(),
        Some(item) => words(item).context(
            "notify is not a list of words, and it cannot be called by ours; make it one first",
        )?,
    };
    let then = chained(&before).map_or(before.clone(), <[String]>::to_vec);
    let mut wanted = vec![station.program()];
    wanted.extend(station.args(&["hook", "codex-notify"]));
    if !then.is_empty() {
        wanted.push(THEN.to_owned());
        wanted.extend(then);
    }
    if wanted != before {
        put_notify(document, wanted);
    }
    Ok(())
}

fn unset_notify(document: &mut DocumentMut, left: &mut Vec<String>) {
    let Some(words) = document.get("notify").and_then(words) else { return };
    match chained(&words) {
        Some([]) => {
            document.remove("notify");
        }
        Some(then) => {
            let then = then.to_vec();
            put_notify(document, then);
        }
        None if words.iter().any(|word| is_our_program(word)) => {
            left.push("notify calls waystation from within another program, so it stays".into());
        }
        None => {}
    }
}

/// Writes the notification; comments above and beside it stay.
fn put_notify(document: &mut DocumentMut, words: Vec<String>) {
    let mut wanted = Value::from(list(words));
    let item = document.entry("notify").or_insert(Item::None);
    if let Some(before) = item.as_value() {
        *wanted.decor_mut() = before.decor().clone();
    }
    *item = Item::Value(wanted);
}

/// What our notification calls afterwards, if `notify` is ours.
fn chained(notify: &[String]) -> Option<&[String]> {
    let [program, hook, kind, rest @ ..] = notify else { return None };
    if !is_our_program(program) || hook != "hook" || kind != "codex-notify" {
        return None;
    }
    let then = rest.iter().position(|word| word == THEN);
    Some(then.and_then(|at| rest.get(at + 1..)).unwrap_or_default())
}

fn set_hook(document: &mut DocumentMut, event: &str, station: &Station) -> Result<()> {
    let line = station.line(&["hook", "codex"]);
    let found = document.get("hooks").and_then(|hooks| hooks.get(event));
    let lines = found.map(lines).unwrap_or_default();
    let ours: Vec<&String> = lines.iter().filter(|line| is_our_line(line)).collect();
    if ours == [&line] {
        return Ok(());
    }
    unset_hook(document, event);
    let hooks = document.entry("hooks").or_insert_with(|| table(&[]));
    let Some(hooks) = hooks.as_table_like_mut() else { bail!("hooks should be a table") };
    let mut hook = Table::new();
    // Under its group without a gap, as people write it.
    hook.decor_mut().set_prefix("");
    hook.insert("type", value("command"));
    hook.insert("command", value(line));
    hook.insert("timeout", value(REPORT_SECONDS));
    match hooks.entry(event).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new())) {
        Item::ArrayOfTables(groups) => {
            let mut inner = ArrayOfTables::new();
            inner.push(hook);
            let mut group = Table::new();
            group.insert("hooks", Item::ArrayOfTables(inner));
            groups.push(group);
        }
        Item::Value(Value::Array(groups)) => {
            let inner = Array::from_iter([Value::InlineTable(hook.into_inline_table())]);
            groups.push(InlineTable::from_iter([("hooks", Value::Array(inner))]));
        }
        _ => bail!("hooks.{event} should be a list"),
    }
    Ok(())
}

/// Takes our lines out of an event's hooks, and whatever is empty then.
fn unset_hook(document: &mut DocumentMut, event: &str) {
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_like_mut) else { return };
    let Some(groups) = hooks.get_mut(event) else { return };
    match groups {
        Item::ArrayOfTables(groups) => {
            groups.retain(|group| lines_of(group.get("hooks")) != Lines::Ours);
            for group in groups.iter_mut() {
                if let Some(inner) = group.get_mut("hooks").and_then(Item::as_array_of_tables_mut) {
                    inner.retain(|hook| {
                        !hook.get("command").and_then(Item::as_str).is_some_and(is_our_line)
                    });
                }
            }
        }
        Item::Value(Value::Array(groups)) => groups.retain(|group| {
            let lines = group.as_inline_table().and_then(|group| group.get("hooks"));
            !lines.is_some_and(|hooks| Lines::of(&strings(hooks)) == Lines::Ours)
        }),
        _ => return,
    }
    let is_empty = match groups {
        Item::ArrayOfTables(groups) => groups.is_empty(),
        Item::Value(Value::Array(groups)) => groups.is_empty(),
        _ => false,
    };
    if is_empty {
        hooks.remove(event);
    }
}

/// Whose lines a group of hooks holds.
#[derive(PartialEq, Eq)]
enum Lines {
    Ours,
    Others,
}

impl Lines {
    fn of(lines: &[String]) -> Self {
        let ours = !lines.is_empty() && lines.iter().all(|line| is_our_line(line));
        if ours { Self::Ours } else { Self::Others }
    }
}

fn lines_of(hooks: Option<&Item>) -> Lines {
    let Some(hooks) = hooks else { return Lines::Others };
    let tables = hooks.as_array_of_tables().map(|tables| {
        let commands = tables.iter().filter_map(|hook| hook.get("command")?.as_str());
        commands.map(str::to_owned).collect()
    });
    Lines::of(&tables.or_else(|| hooks.as_value().map(strings)).unwrap_or_default())
}

/// The lines of all groups of an event.
fn lines(groups: &Item) -> Vec<String> {
    let tables = groups.as_array_of_tables().into_iter().flatten();
    let inner = tables.filter_map(|group| group.get("hooks"));
    let of_tables = inner.flat_map(|hooks| match hooks {
        Item::ArrayOfTables(hooks) => hooks
            .iter()
            .filter_map(|hook| Some(hook.get("command")?.as_str()?.to_owned()))
            .collect(),
        other => other.as_value().map(strings).unwrap_or_default(),
    });
    let inline = groups.as_array().into_iter().flatten();
    let inline = inline.filter_map(|group| group.as_inline_table()?.get("hooks"));
    of_tables.chain(inline.flat_map(strings)).collect()
}

/// The commands of hooks that are written on one line.
fn strings(hooks: &Value) -> Vec<String> {
    let hooks = hooks.as_array().into_iter().flatten();
    hooks
        .filter_map(|hook| Some(hook.as_inline_table()?.get("command")?.as_str()?.to_owned()))
        .collect()
}

fn words(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
}

fn list(words: impl IntoIterator<Item = String>) -> Array {
    words.into_iter().collect()
}

/// A table that is not printed by itself while it holds only tables.
fn table(parts: &[(&str, Item)]) -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    for (key, item) in parts {
        table.insert(key, item.clone());
    }
    Item::Table(table)
}

/// A value without the space around it.
fn plain(item: &Item) -> String {
    item.as_value().map(|value| value.clone().decorated("", "").to_string()).unwrap_or_default()
}

fn drop_empty(document: &mut DocumentMut, key: &str) {
    let is_empty =
        document.get(key).and_then(Item::as_table_like).is_some_and(toml_edit::TableLike::is_empty);
    if is_empty {
        document.remove(key);
    }
}

#[cfg(test)]
#[path = "codex_config_tests.rs"]
mod tests;
