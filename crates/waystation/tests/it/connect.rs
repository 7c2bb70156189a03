//! `waystation connect`: what it shows, what it changes, and that it takes all of it out again.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::agent_programs::{AtTerminal, Desk};

const CODEX: &str = ".codex/config.toml";
const SERVERS: &str = ".claude.json";
const SETTINGS: &str = ".claude/settings.json";

fn copies(desk: &Desk, folder: &str) -> usize {
    let files = std::fs::read_dir(desk.path(folder)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(".before-waystation-")).count()
}

#[test]
fn nothing_changes_until_somebody_says_yes() {
    let desk = Desk::new();
    desk.write(CODEX, "notify = [\"bell\"] # mine\n");
    let ran = desk.run(&["connect"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("nothing was changed; say --yes"), "{}", ran.stderr);
    insta::assert_snapshot!("connect_diff", desk.cleaned(&ran.stdout));
    assert_eq!(desk.read(CODEX), "notify = [\"bell\"] # mine\n");
    assert!(!desk.path(SERVERS).exists() && !desk.path(SETTINGS).exists());
    assert!(!desk.home.data().exists(), "looking leaves nothing behind");
}

#[test]
fn a_second_run_has_nothing_to_do_and_undoing_gives_everything_back() {
    let desk = Desk::new();
    let theirs = [
        (
            CODEX,
            "# mine\nnotify = [\"bell\", \"-x\"]\n\n[mcp_servers.other] # theirs\nurl = \"u\"\n",
        ),
        (
            SERVERS,
            "{\n\t\"numStartups\": 7,\n\t\"mcpServers\": {\n\t\t\"z\": {\"command\": \"z\"}\n\t}\n}",
        ),
        (SETTINGS, "{\n  \"hooks\": {\n    \"Stop\": [ { \"hooks\": [] } ]\n  },\n  \"a\": 1\n}\n"),
    ];
    for (name, text) in theirs {
        desk.write(name, text);
    }
    std::fs::set_permissions(desk.path(CODEX), PermissionsExt::from_mode(0o640)).unwrap();
    let ran = desk.run(&["connect", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("✔ codex 0.166.0") && ran.stdout.contains("✔ claude 2.1.325"));
    assert!(ran.stdout.contains("Hooks need review"), "{}", ran.stdout);
    let mode = std::fs::metadata(desk.path(CODEX)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!((copies(&desk, ".codex"), copies(&desk, ".claude"), copies(&desk, ".")), (1, 1, 1));
    let again = desk.run(&["connect"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("Nothing to change."), "{}", again.stdout);
    assert_eq!(desk.run(&["connect", "--undo", "--yes"]).code, 0);
    for (name, text) in theirs {
        assert_eq!(desk.read(name), text, "{name}");
    }
    assert!(desk.run(&["connect", "--undo"]).stdout.contains("Nothing to change."));
}

#[test]
fn files_that_were_not_there_are_gone_again_afterwards() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["connect", "--yes"]).code, 0);
    let mode = std::fs::metadata(desk.path(SETTINGS)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(desk.run(&["connect", "--yes", "--undo"]).code, 0);
    for name in [CODEX, SERVERS, SETTINGS] {
        assert!(!desk.path(name).exists(), "{name}");
    }
}

#[test]
fn undoing_keeps_what_others_wrote_since_and_names_what_is_not_ours() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["connect", "--yes"]).code, 0);
    let codex = desk.read(CODEX).replace(
        "[mcp_servers.waystation]",
        "[mcp_servers.new]\nurl = \"u\"\n\n[mcp_servers.waystation]",
    );
    desk.write(CODEX, &format!("model = \"o\" # since\n{codex}"));
    desk.write(SERVERS, r#"{"mcpServers": {"waystation": {"url": "changed"}}}"#);
    let ran = desk.run(&["connect", "--undo", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("does not start this program any more"), "{}", ran.stdout);
    let left = desk.read(CODEX);
    assert!(left.contains("# since") && left.contains("mcp_servers.new"), "{left}");
    assert!(!left.contains("waystation"), "{left}");
    assert!(desk.read(SERVERS).contains("changed"));
}

#[test]
fn a_file_that_cannot_be_understood_is_named_and_nothing_is_touched() {
    let desk = Desk::new();
    desk.write(SETTINGS, "{ \"hooks\": // not JSON\n }");
    let ran = desk.run(&["connect", "--yes"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("settings.json cannot be changed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 1"), "{}", ran.stderr);
    assert!(!desk.path(CODEX).exists(), "all or nothing");
}

#[test]
fn names_folders_and_homes_are_those_that_were_said() {
    let desk = Desk::new();
    let folder = desk.path("data of mine").display().to_string();
    let mut command = desk.command(&["connect", "claude", "--yes", "--as", "critic"]);
    command.args(["--data", &folder]).env("CLAUDE_CONFIG_DIR", desk.path("elsewhere"));
    let ran = crate::program::Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let servers: Value = serde_json::from_str(&desk.read("elsewhere/.claude.json")).unwrap();
    let server = &servers["mcpServers"]["waystation"];
    assert_eq!(server["args"], serde_json::json!(["mcp", "--as", "critic", "--data", folder]));
    let settings = desk.read("elsewhere/settings.json");
    assert!(settings.contains(&format!("wait --as critic --data '{folder}'")), "{settings}");
    let mut command = desk.command(&["connect", "codex", "--yes", "--json"]);
    let ran = crate::program::Ran::of(command.env("CODEX_HOME", desk.path("c")).output().unwrap());
    let report = ran.json();
    assert_eq!(report["applied"], true);
    assert_eq!(report["programs"][0]["version"], "0.166.0");
    assert!(desk.read("c/config.toml").contains("[mcp_servers.waystation]"));
}

#[test]
fn agents_are_connected_to_the_configuration_that_was_said() {
    let desk = Desk::new();
    desk.write("ws.toml", "workspace = \"elsewhere\"\n");
    let file = desk.path("ws.toml").display().to_string();
    let ran = desk.run(&["connect", "--yes", "--config", "ws.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let servers: Value = serde_json::from_str(&desk.read(SERVERS)).unwrap();
    let server = &servers["mcpServers"]["waystation"];
    assert_eq!(server["args"], serde_json::json!(["mcp", "--as", "claude", "--config", file]));
    assert!(desk.read(SETTINGS).contains(&format!("wait --as claude --config {file}")));
    let codex: toml::Table = desk.read(CODEX).parse().unwrap();
    let server = &codex["mcp_servers"]["waystation"];
    let args: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(args, ["mcp", "--as", "codex", "--config", &file]);
    assert!(server["env_vars"].as_array().unwrap().contains(&"WAYSTATION_CONFIG".into()));
    let doctor = desk.run(&["doctor", "--config", "ws.toml"]);
    assert!(!doctor.stdout.contains("waystation connect"), "{}", doctor.stdout);
}

#[test]
fn a_project_is_connected_by_its_own_files() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("project")).unwrap();
    let ran = desk.run(&["connect", "--yes", "--project", "project"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(desk.read("project/.mcp.json").contains("waystation"));
    let settings = desk.read("project/.claude/settings.local.json");
    assert!(settings.contains("enabledMcpjsonServers"), "{settings}");
    assert!(!desk.read("project/.codex/config.toml").contains("notify ="));
    assert!(!desk.path(SERVERS).exists() && !desk.path(CODEX).exists());
    let ran = desk.run(&["connect", "--project", "nowhere"]);
    assert!(ran.stderr.contains("nowhere is not a folder"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_meant_is_explained() {
    let desk = Desk::bare();
    let ran = desk.run(&["connect"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("npm install -g"), "{}", ran.stderr);
    let ran = desk.run(&["connect", "codex", "--yes"]);
    assert!(ran.stdout.contains("not on the search path yet"), "{}", ran.stdout);
    let ran = desk.run(&["connect", "codex", "claude", "--as", "x"]);
    assert!(ran.stderr.contains("--as names one agent"), "{}", ran.stderr);
    assert_eq!(desk.run(&["connect", "--as", "no\nname", "codex"]).code, 1);
    assert_eq!(desk.run(&["connect", "emacs"]).code, 2);
}

#[test]
fn secrets_beside_a_change_are_not_shown() {
    let desk = Desk::new();
    desk.write(SERVERS, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"env\": {\n        \"A_TOKEN\": \"hunter2\"\n      }\n    }\n  }\n}\n");
    for args in [&["connect"][..], &["connect", "--json"], &["connect", "--yes"]] {
        let ran = desk.run(args);
        assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
    }
    assert!(desk.read(SERVERS).contains("hunter2"));
}

#[test]
fn the_notification_that_was_there_is_still_called() {
    let desk = Desk::new();
    desk.install("bell", "printf '%s\\n' \"$@\" > \"$HOME/rung\"");
    let bell = desk.path("bin/bell").display().to_string();
    desk.write(CODEX, &format!("notify = [{bell:?}, \"-x\"]\n"));
    assert_eq!(desk.run(&["connect", "codex", "--yes"]).code, 0);
    let config: toml::Table = desk.read(CODEX).parse().unwrap();
    let notify: Vec<&str> =
        config["notify"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let said = r#"{"type":"other"}"#;
    let ran = desk.run(&[&notify[1..], &[said]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // It is left to itself, so it may ring a moment later.
    while std::fs::read_to_string(desk.path("rung")).unwrap_or_default() != format!("-x\n{said}\n")
    {
        std::thread::yield_now();
    }
}

#[test]
fn a_person_is_asked_and_no_means_no() {
    let desk = Desk::new();
    let mut asked = AtTerminal::start(desk.command(&["connect", "codex"]), "n\n");
    assert_eq!(asked.end(), 1);
    assert!(asked.shown.contains("Make these changes? [y/N]"), "{}", asked.shown);
    assert!(asked.shown.contains("nothing was changed"), "{}", asked.shown);
    assert!(asked.shown.contains("\x1b[32m+[mcp_servers.waystation]\x1b[0m"), "{}", asked.shown);
    assert!(!desk.path(CODEX).exists());
    let mut asked = AtTerminal::start(desk.command(&["connect", "codex"]), "y\n");
    assert_eq!(asked.end(), 0, "{}", asked.shown);
    assert!(desk.path(CODEX).exists());
}
