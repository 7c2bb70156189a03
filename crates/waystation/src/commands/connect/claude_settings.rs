//! Claude Code's settings: the hooks by which a session reports itself and can be woken, and leave
//! to use the hub's tools.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::json_text::JsonText;
use super::record::Changes;
use super::station::{Station, is_our_line};
use super::{Edited, Scope};

/// The events that say what a session is doing.
pub(super) const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "Notification", "PermissionRequest"];
/// The events that leave somebody waiting for a wake. A turn that a person breaks off ends without
/// `Stop`, so whoever is to wait after it is there from its beginning; the hub holds wakes until then.
const WAITING_EVENTS: [&str; 3] = ["SessionStart", "UserPromptSubmit", "Stop"];
/// A report that takes longer would hold a person up.
const REPORT_SECONDS: u32 = 10;
/// Three weeks, about as long as its timers count: Claude Code ends the waiting then, and the next turn
/// begins it anew.
const WAIT_SECONDS: u32 = 2_000_000;

/// A permission for every tool of the hub.
const TOOLS: &str = "mcp__waystation";
const ALLOW: [&str; 2] = ["permissions", "allow"];
/// Servers of a project that need not be approved one by one.
const APPROVED: [&str; 1] = ["enabledMcpjsonServers"];
const SERVER: &str = "waystation";

#[derive(Serialize)]
struct Group {
    hooks: Vec<Hook>,
}

#[derive(Serialize)]
struct Hook {
    r#type: &'static str,
    command: String,
    #[serde(rename = "asyncRewake", skip_serializing_if = "std::ops::Not::not")]
    wakes: bool,
    timeout: u32,
}

fn wanted(event: &str, station: &Station) -> Group {
    let line = station.line(&["hook", "claude"]);
    let report = Hook { r#type: "command", command: line, wakes: false, timeout: REPORT_SECONDS };
    let mut hooks = vec![report];
    if WAITING_EVENTS.contains(&event) {
        let command = station.line(&["wait"]);
        hooks.push(Hook { r#type: "command", command, wakes: true, timeout: WAIT_SECONDS });
    }
    Group { hooks }
}

/// Adds our hooks beside those that are there, and the permission.
pub(super) fn connect(text: &str, station: &Station, scope: Scope) -> Result<Edited> {
    let mut json = JsonText::parse(text)?;
    let mut changes = Changes::default();
    note_missing(&json, &["hooks"], &mut changes);
    for event in EVENTS {
        let path = ["hooks", event];
        let wanted = wanted(event, station);
        let expected = serde_json::to_value(&wanted)?;
        let groups = json.at(&path).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_there = groups.contains(&expected);
        let others = groups.iter().filter(|group| **group != expected && holds_ours(group)).count();
        if is_there && others == 0 {
            continue;
        }
        note_missing(&json, &path, &mut changes);
        take_out(&mut json, event)?;
        json.push(&path, &wanted)?;
    }
    add(&mut json, &ALLOW, TOOLS, &mut changes)?;
    if scope == Scope::Project {
        add(&mut json, &APPROVED, SERVER, &mut changes)?;
    }
    Ok(Edited { text: json.into_text(), changes, left: Vec::new() })
}

/// Takes out what `connect` put in.
pub(super) fn disconnect(text: &str, made: Option<&Changes>) -> Result<Edited> {
    let mut json = JsonText::parse(text)?;
    for event in EVENTS {
        take_out(&mut json, event)?;
        super::drop_if_empty(&mut json, &["hooks", event], made)?;
    }
    super::drop_if_empty(&mut json, &["hooks"], made)?;
    remove(&mut json, &ALLOW, TOOLS, made)?;
    super::drop_if_empty(&mut json, &["permissions"], made)?;
    remove(&mut json, &APPROVED, SERVER, made)?;
    let mut left = Vec::new();
    if json.at(&["hooks"]).is_some_and(|hooks| hooks.to_string().contains("waystation")) {
        left.push("another hook mentions waystation; connect did not write it, so it stays".into());
    }
    Ok(Edited { text: json.into_text(), changes: Changes::default(), left })
}

fn take_out(json: &mut JsonText, event: &str) -> Result<()> {
    let path = ["hooks", event];
    // A group that holds nothing but ours goes whole; from others only our lines go.
    json.remove_items(&path, |group| {
        let hooks = group.get("hooks").and_then(Value::as_array);
        hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_ours))
    })?;
    let count = json.at(&path).and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..count {
        json.remove_items(&["hooks", event, &index.to_string(), "hooks"], is_ours)?;
    }
    Ok(())
}

fn holds_ours(group: &Value) -> bool {
    group.get("hooks").and_then(Value::as_array).is_some_and(|hooks| hooks.iter().any(is_ours))
}

fn is_ours(hook: &Value) -> bool {
    hook.get("command").and_then(Value::as_str).is_some_and(is_our_line)
}

fn add(json: &mut JsonText, path: &[&str], item: &str, changes: &mut Changes) -> Result<()> {
    let has = json.at(path).and_then(Value::as_array).is_some_and(|list| has(list, item));
    if has {
        return Ok(());
    }
    for length in 1..=path.len() {
        note_missing(json, path.get(..length).unwrap_or_default(), changes);
    }
    changes.made.insert(format!("{}:{item}", path.join(".")));
    json.push(path, &item)
}

fn remove(json: &mut JsonText, path: &[&str], item: &str, made: Option<&Changes>) -> Result<()> {
    let place = format!("{}:{item}", path.join("."));
    if made.is_none_or(|made| made.made.contains(&place)) {
        json.remove_items(path, |found| found.as_str() == Some(item))?;
        super::drop_if_empty(json, path, made)?;
    }
    Ok(())
}

fn has(list: &[Value], item: &str) -> bool {
    list.iter().any(|found| found.as_str() == Some(item))
}

fn note_missing(json: &JsonText, path: &[&str], changes: &mut Changes) {
    if json.at(path).is_none() {
        changes.made.insert(path.join("."));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::station;
    use super::*;

    const THEIRS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"say done\" }\n        ]\n      }\n    ]\n  },\n  \"permissions\": {\n    \"deny\": [\"WebFetch\"]\n  }\n}\n";

    #[test]
    fn our_hooks_stand_beside_those_that_are_there() {
        let connected = connect(THEIRS, &station(), Scope::User).unwrap();
        insta::assert_snapshot!("claude_settings", connected.text);
        let again = connect(&connected.text, &station(), Scope::User).unwrap();
        assert_eq!(again.text, connected.text);
        assert_eq!(again.changes, Changes::default());
    }

    #[test]
    fn undoing_leaves_what_others_did_since() {
        for theirs in ["", "{}\n", THEIRS] {
            let connected = connect(theirs, &station(), Scope::Project).unwrap();
            let gone = disconnect(&connected.text, Some(&connected.changes)).unwrap();
            assert_eq!(gone.text, if theirs.is_empty() { "{}\n" } else { theirs });
            assert_eq!(gone.left, Vec::<String>::new());
        }
        let connected = connect(THEIRS, &station(), Scope::User).unwrap();
        let since = connected.text.replace("say done", "say finished");
        let gone = disconnect(&since, Some(&connected.changes)).unwrap();
        assert_eq!(gone.text, THEIRS.replace("say done", "say finished"));
    }

    #[test]
    fn a_permission_that_was_there_before_stays() {
        let theirs = "{\n  \"permissions\": {\n    \"allow\": [\"mcp__waystation\"]\n  }\n}\n";
        let connected = connect(theirs, &station(), Scope::User).unwrap();
        let gone = disconnect(&connected.text, Some(&connected.changes)).unwrap();
        assert_eq!(gone.text, theirs);
    }

    #[test]
    fn our_line_is_taken_out_of_a_group_of_others() {
        let mixed = r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "waystation wait"}]}]}}"#;
        let gone = disconnect(mixed, None).unwrap();
        assert_eq!(gone.text, r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#);
    }

    #[test]
    fn another_name_replaces_the_first() {
        let connected = connect("", &station(), Scope::User).unwrap();
        let other = Station { agent: "reviewer".to_owned(), ..station() };
        let again = connect(&connected.text, &other, Scope::User).unwrap();
        assert!(!again.text.contains("coder") && again.text.contains("--as reviewer"));
        assert_eq!(again.text.matches("asyncRewake").count(), 3);
    }
}
