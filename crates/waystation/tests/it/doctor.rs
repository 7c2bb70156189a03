//! `waystation doctor`: what it sees, and that it wakes nobody unasked.

use serde_json::Value;

use crate::agent_programs::Desk;

/// A script that explains itself as Codex does, and writes down when it is started for real.
const CODEX: &str = r#"case "$*" in
  --version) echo codex-cli 0.166.0 ;;
  "app-server --help") echo "  --listen URL" ;;
  "exec resume --help") echo "[SESSION_ID] [PROMPT]" ;;
  "exec --help") echo "--json" ;;
  *--help) echo "unknown" ;;
  *) echo "started: $*" >> "$HOME/started"; echo "please log in first"; exit 1 ;;
esac"#;

fn finding<'a>(report: &'a Value, subject: &str, check: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|found| found["subject"] == subject && found["check"] == check)
        .unwrap_or_else(|| panic!("no {subject} {check} in {report}"))
}

fn desk() -> Desk {
    let desk = Desk::bare();
    desk.install("codex", CODEX);
    desk
}

#[test]
fn what_is_missing_comes_with_what_to_do() {
    let desk = desk();
    let ran = desk.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(finding(&report, "hub", "answers")["state"], "works");
    assert_eq!(finding(&report, "codex", "installed")["state"], "works");
    let connected = finding(&report, "codex", "connected");
    assert_eq!(connected["state"], "missing");
    assert_eq!(connected["advice"], "waystation connect codex");
    assert_eq!(finding(&report, "codex", "codex_socket")["state"], "untried");
    assert_eq!(finding(&report, "codex", "codex_queue")["state"], "missing");
    let claude = finding(&report, "claude", "installed");
    assert!(claude["advice"].as_str().unwrap().contains("npm install"), "{claude}");
    let said = desk.run(&["doctor"]).stdout;
    assert!(said.contains("To do:") && said.contains("codex connected: waystation connect codex"));
    assert!(!desk.path("started").exists());
}

#[test]
fn nobody_is_woken_without_a_word() {
    let desk = desk();
    assert_eq!(desk.run(&["connect", "--yes"]).code, 0);
    for args in [&["doctor", "--json"][..], &["doctor", "--no-wake", "--json"]] {
        let report = desk.run(args).json();
        assert_eq!(finding(&report, "codex", "connected")["detail"], "as agent codex");
        let untried = finding(&report, "hub", "waking");
        assert!(untried["advice"].as_str().unwrap().contains("doctor --yes"), "{untried}");
    }
    assert!(!desk.path("started").exists());
}

#[test]
fn half_a_connection_is_seen() {
    let desk = desk();
    assert_eq!(desk.run(&["connect", "--yes"]).code, 0);
    let config = desk.read(".codex/config.toml");
    let broken = config.replace("[[hooks.Stop.hooks]]", "[[hooks.Stop.other]]");
    desk.write(".codex/config.toml", &broken);
    let ran = desk.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(finding(&ran.json(), "codex", "connected")["state"], "broken");
    desk.write(".codex/config.toml", "not = [toml");
    let ran = desk.run(&["doctor", "--json"]);
    assert_eq!(finding(&ran.json(), "codex", "connected")["state"], "broken");
}

#[test]
fn a_program_that_does_not_come_up_is_quoted() {
    let desk = desk();
    assert_eq!(desk.run(&["connect", "--yes"]).code, 0);
    let ran = desk.run(&["doctor", "codex", "--yes", "--patience", "20", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = ran.json();
    let waking = finding(&report, "codex", "waking");
    assert_eq!(waking["state"], "broken");
    assert!(waking["advice"].as_str().unwrap().contains("by hand once"), "{waking}");
    assert!(desk.read("started").starts_with("started:"));
}
