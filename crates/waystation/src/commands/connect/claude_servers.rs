//! Claude Code's list of MCP servers: `.claude.json` for a person, `.mcp.json` for a project.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Edited;
use super::json_text::JsonText;
use super::record::Changes;
use super::station::{Station, is_our_program};

const SERVERS: &str = "mcpServers";
const NAME: &str = "waystation";
const PLACE: &str = "mcpServers.waystation";

#[derive(Serialize)]
struct Server {
    r#type: &'static str,
    command: String,
    args: Vec<String>,
}

/// Adds the hub, or brings its entry up to date.
pub(super) fn connect(text: &str, station: &Station) -> Result<Edited> {
    let mut json = JsonText::parse(text)?;
    let wanted =
        Server { r#type: "stdio", command: station.program(), args: station.args(&["mcp"]) };
    let mut changes = Changes::default();
    match json.at(&[SERVERS, NAME]) {
        Some(found) if *found == serde_json::to_value(&wanted)? => {
            return Ok(Edited::unchanged(text));
        }
        Some(found) if !is_ours(found) => {
            let before = json.text_at(&[SERVERS, NAME])?.unwrap_or_default().to_owned();
            changes.replaced.insert(PLACE.to_owned(), before);
        }
        Some(_) => {}
        None => {
            changes.made.insert(PLACE.to_owned());
        }
    }
    if json.at(&[SERVERS]).is_none() {
        changes.made.insert(SERVERS.to_owned());
    }
    json.set(&[SERVERS, NAME], &wanted)?;
    Ok(Edited { text: json.into_text(), changes, left: Vec::new() })
}

/// Takes the hub out, and puts back what stood in its place.
pub(super) fn disconnect(text: &str, made: Option<&Changes>) -> Result<Edited> {
    let mut json = JsonText::parse(text)?;
    let Some(found) = json.at(&[SERVERS, NAME]) else { return Ok(Edited::unchanged(text)) };
    if !is_ours(found) {
        let left = format!("{PLACE} does not start this program any more, so it stays");
        return Ok(Edited { left: vec![left], ..Edited::unchanged(text) });
    }
    if let Some(before) = made.and_then(|made| made.replaced.get(PLACE)) {
        json.set(&[SERVERS, NAME], &RawValue::from_string(before.clone())?)?;
    } else {
        json.remove(&[SERVERS, NAME])?;
        super::drop_if_empty(&mut json, &[SERVERS], made)?;
    }
    Ok(Edited { text: json.into_text(), changes: Changes::default(), left: Vec::new() })
}

fn is_ours(server: &Value) -> bool {
    let command = server.get("command").and_then(Value::as_str);
    let first = server.get("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    command.is_some_and(is_our_program) && first == Some("mcp")
}

#[cfg(test)]
mod tests {
    use super::super::tests::station;
    use super::*;

    const THEIRS: &str = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"z\": 1\n}\n";

    #[test]
    fn the_hub_stands_beside_other_servers_and_goes_again() {
        let connected = connect(THEIRS, &station()).unwrap();
        insta::assert_snapshot!(connected.text, @r#"
        {
          "numStartups": 3,
          "mcpServers": {
            "other": { "command": "x" },
            "waystation": {
              "type": "stdio",
              "command": "/opt/bin/waystation",
              "args": [
                "mcp",
                "--as",
                "coder"
              ]
            }
          },
          "z": 1
        }
        "#);
        assert_eq!(connect(&connected.text, &station()).unwrap().text, connected.text);
        let gone = disconnect(&connected.text, Some(&connected.changes)).unwrap();
        assert_eq!(gone.text, THEIRS);
    }

    #[test]
    fn what_stood_in_its_place_comes_back() {
        let theirs = "{\"mcpServers\": {\"waystation\": {\"type\":\"http\", \"url\":\"u\"}}}";
        let connected = connect(theirs, &station()).unwrap();
        assert!(connected.text.contains("/opt/bin/waystation"));
        // Another name later does not make us forget what was there first.
        let mut changes = connected.changes.clone();
        let other = Station { agent: "other".to_owned(), ..station() };
        let again = connect(&connected.text, &other).unwrap();
        changes.merge(again.changes);
        assert_eq!(disconnect(&again.text, Some(&changes)).unwrap().text, theirs);
    }

    #[test]
    fn an_entry_that_somebody_changed_stays_and_is_named() {
        let theirs = "{\"mcpServers\": {\"waystation\": {\"url\":\"u\"}}}";
        let gone = disconnect(theirs, None).unwrap();
        assert_eq!(gone.text, theirs);
        assert_eq!(gone.left.len(), 1);
    }
}
