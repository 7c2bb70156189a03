//! `waystation run` and the hub: a session that is known, reported, and outlives the hub.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use super::terminal::{Terminal, eventually};
use crate::program::Home;

/// A person who runs a scripted agent.
fn run(home: &Home, options: &[&str]) -> Terminal {
    let program = testkit::scripted::program();
    let mut args = vec!["run", "alice"];
    args.extend(options);
    args.extend(["--", program.to_str().unwrap(), "--exit-code=5"]);
    let mut terminal = Terminal::open(&home.command(&args));
    terminal.wait_for("runs as alice");
    terminal.wait_for("> ");
    terminal
}

fn session(home: &Home) -> Value {
    let listed = home.run(&["sessions", "--json"]).json();
    let sessions = listed["sessions"].as_array().unwrap();
    sessions.iter().find(|one| one["agent_id"] == "alice").cloned().unwrap_or_default()
}

/// Ends the program of a terminal.
fn end(mut terminal: Terminal) {
    terminal.press(b"\x15\x04");
    assert_eq!(terminal.wait(), 5);
}

#[test]
fn a_run_is_a_managed_session_until_it_ends() {
    let home = Home::new();
    let _hub = home.up();
    let mut terminal = run(&home, &[]);
    let seen = eventually("the session is idle", || {
        let seen = session(&home);
        (seen["status"] == "idle" && seen["pid"].is_number()).then_some(seen)
    });
    assert_eq!(seen["management_mode"], "managed");
    assert_eq!(seen["runtime"], "scripted-agent");
    terminal.press(b"half typed");
    terminal.wait_for("half typed");
    let seen = eventually("the hub knows of the draft", || {
        let seen = session(&home);
        (seen["human_input"]["draft"] == true).then_some(seen)
    });
    assert!(seen["human_input"]["last_key_at"].is_string(), "{seen}");
    let second = home.run(&["run", "alice", "--", "/bin/cat"]);
    assert_ne!(second.code, 0);
    assert!(second.stderr.contains("waystation attach alice"), "{}", second.stderr);
    end(terminal);
    eventually("the session is over", || (session(&home)["status"] == "offline").then_some(()));
}

#[test]
fn an_agent_finds_the_configuration_that_its_run_was_given() {
    let home = Home::new();
    let file = home.path().join("ws.toml");
    std::fs::write(&file, "workspace = \"elsewhere\"\n").unwrap();
    let note = "printf %s \"$WAYSTATION_CONFIG\" > draft; mv draft seen";
    let run = ["run", "alice", "--headless", "--config", "ws.toml", "--", "/bin/sh", "-c", note];
    home.ok(&run);
    let seen =
        eventually("it has looked", || std::fs::read_to_string(home.path().join("seen")).ok());
    assert_eq!(seen, file.to_str().unwrap());
}

#[test]
fn the_terminal_lives_on_without_a_hub_and_reports_to_the_next() {
    let home = Home::new();
    let hub = home.up();
    let mut terminal = run(&home, &[]);
    eventually("the session is known", || session(&home)["pid"].is_number().then_some(()));
    // Killed, not stopped.
    drop(hub);
    terminal.press(b"nobody listens");
    terminal.wait_for("nobody listens");
    let _hub = home.up();
    eventually("it reports again", || {
        (session(&home)["human_input"]["draft"] == true).then_some(())
    });
    end(terminal);
}

#[test]
fn an_agent_finds_its_identity_in_a_fresh_token() {
    let home = Home::new();
    let _hub = home.up();
    let this = crate::program::PROGRAM;
    let script =
        format!("{this} call heartbeat_session '{{\"runtime\":\"sh\"}}' && echo known; cat");
    let mut terminal =
        Terminal::open(&home.command(&["run", "alice", "--", "/bin/sh", "-c", &script]));
    terminal.wait_for("known");
    assert_eq!(session(&home)["management_mode"], "managed");
    terminal.press(b"\x04");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_run_takes_pipes_too_and_plainly() {
    let home = Home::new();
    let _hub = home.up();
    let mut command = home.command(&["run", "alice", "--", "/bin/cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\x1dd").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\x1dd");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_headless_agent_is_started_and_come_to_later() {
    let home = Home::new();
    let _hub = home.up();
    let program = testkit::scripted::program();
    let id = home.ok(&["run", "alice", "--headless", "--", program.to_str().unwrap()]);
    let folder = home.data().join("run").join(id.trim());
    assert!(folder.join("keeper.sock").exists());
    let mut terminal = Terminal::open(&home.command(&["attach"]));
    terminal.wait_for("> ");
    terminal.press(b"\x04");
    assert_eq!(terminal.wait(), 0);
    eventually("the keeper tidies up", || (!folder.join("token").exists()).then_some(()));
}

#[test]
fn a_script_is_told_what_runs_in_json() {
    let home = Home::new();
    let _hub = home.up();
    let program = testkit::scripted::program();
    let program = program.to_str().unwrap();
    let started = home.run(&["run", "alice", "--headless", "--json", "--", program]).json();
    assert_eq!(started["agent_id"], "alice");
    let id = started["session_id"].as_str().unwrap();
    assert!(home.data().join("run").join(id).join("keeper.sock").exists());
    let again = home.run(&["run", "alice", "--restart", "--json"]).json();
    assert_eq!((&again["session_id"], &again["restarted"]), (&json!(id), &json!(true)));
    let mut terminal = Terminal::open(&home.command(&["attach"]));
    terminal.wait_for("> ");
    terminal.press(b"\x04");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_program_that_streams_is_spoken_with_and_heard() {
    let home = Home::new();
    let _hub = home.up();
    // Claude Code as far as its lines go: it works on whatever it is told, and says so.
    let stand_in = home.path().join("claude");
    let script = "#!/bin/sh\necho \"$*\" > args\nwhile read -r line; do printf '%s\\n' \"$line\" >> told; \
                  echo '{\"type\":\"assistant\"}'; echo '{\"type\":\"result\"}'; done\n";
    std::fs::write(&stand_in, script).unwrap();
    std::fs::set_permissions(&stand_in, std::fs::Permissions::from_mode(0o755)).unwrap();
    let id = home.ok(&["run", "alice", "--headless", "--", "./claude", "--model", "x"]);
    let socket = home.data().join("run").join(id.trim()).join("keeper.sock");
    let ask = |request: &Value| super::keeper::ask(&socket, request);
    let text = "a \"notice\"\nof two lines";
    let say = json!({ "say": { "wake_id": "wk_1", "text": text } });
    assert_eq!(ask(&say), "done");
    assert_eq!(ask(&say), "done", "again is no second time");
    let wait = json!({ "await_turn": { "wake_id": "wk_1", "patience_ms": 60_000 } });
    assert_eq!(ask(&wait), json!({ "is": true }));
    assert_eq!(ask(&json!({ "has_arrived": { "wake_id": "wk_1" } })), json!({ "is": true }));
    let told = std::fs::read_to_string(home.path().join("told")).unwrap();
    let line: Value = serde_json::from_str(told.trim()).unwrap();
    assert_eq!(line["message"]["content"], text);
    let args = std::fs::read_to_string(home.path().join("args")).unwrap();
    let expected = "-p --input-format stream-json --output-format stream-json --verbose --model x";
    assert_eq!(args.trim(), expected);
    eventually("it is idle again", || {
        (ask(&json!({ "look": {} }))["seen"]["activity"] == "idle").then_some(())
    });
    assert_eq!(ask(&json!({ "stop": {} })), "done");
    eventually("the keeper ends", || (!socket.exists()).then_some(()));
}
