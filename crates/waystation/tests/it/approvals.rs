//! A person decides at their own terminal; a program beside them does not.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::terminal::Terminal;

use crate::program::{Home, PROGRAM, Up};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
const PASSPHRASE: &str = "correct horse battery";
const ISSUE: &str = "https://ghes.invalid/acme/shop/issues/12";

/// A person in front of a shell.
pub(crate) struct Person(Terminal);

impl Person {
    pub(crate) fn sits_down(home: &Home) -> Self {
        let shell = Path::new("/bin/bash");
        let mut command = home.command_of(shell, &["--norc", "--noprofile", "-i"]);
        command.env("PS1", "READY> ").env("TERM", "dumb");
        let terminal = Terminal::open(&command).unwrap();
        assert!(terminal.shows(b"READY> ", 0, PATIENCE));
        Self(terminal)
    }

    /// Types a command of ours at the prompt; answers where its output begins.
    pub(crate) fn types(&self, words: &str) -> usize {
        self.types_line(&format!("{PROGRAM} {words}"))
    }

    fn types_line(&self, line: &str) -> usize {
        let from = self.0.output_len();
        self.0.press(format!("{line}; echo \"ended=$?\"\r").as_bytes()).unwrap();
        from
    }

    pub(crate) fn sees(&self, text: &str, from: usize) {
        let shown = self.0.shows(text.as_bytes(), from, PATIENCE);
        assert!(shown, "{text:?} did not appear: {}", self.seen(from));
    }

    pub(crate) fn seen(&self, from: usize) -> String {
        let output = self.0.output();
        String::from_utf8_lossy(output.get(from..).unwrap_or_default()).into_owned()
    }

    fn presses(&self, keys: &str) {
        self.0.press(format!("{keys}\r").as_bytes()).unwrap();
    }

    /// Sets the passphrase for the first time.
    pub(crate) fn chooses(&self) {
        let from = self.types("approvals passphrase");
        self.sees("The new passphrase: ", from);
        self.presses(PASSPHRASE);
        self.sees("Once more: ", from);
        self.presses(PASSPHRASE);
        self.sees("ended=0", from);
        assert!(!self.seen(from).contains(PASSPHRASE), "it is not shown");
    }

    /// Runs a command that asks for the passphrase, and gives it.
    pub(crate) fn decides(&self, words: &str) -> String {
        let from = self.types(words);
        self.sees("Passphrase for deciding: ", from);
        self.presses(PASSPHRASE);
        self.sees("ended=0", from);
        self.seen(from)
    }
}

/// A hub with a link that reaches a page, and an agent that wants to write there.
struct Place {
    home: Home,
    up: Up,
    agent: String,
    thread: String,
}

impl Place {
    fn new() -> Self {
        let home = Home::generous();
        let up = home.up();
        let link = json!({
            "service": "github", "unchecked": true,
            "settings": { "token": "github_pat_x", "base_url": "https://ghes.invalid/api/v3" },
        });
        home.ok(&["call", "add_link", &link.to_string()]);
        let agent = home.token("triage", "worker");
        let thread = json!({ "title": "The shop", "participants": ["triage"] }).to_string();
        let thread: Value =
            serde_json::from_str(&home.ok(&["call", "create_thread", &thread])).unwrap();
        let thread = thread["thread_id"].as_str().unwrap().to_owned();
        Self { home, up, agent, thread }
    }

    fn propose(&self, text: &str) -> String {
        let action = json!({ "to": ISSUE, "text": text });
        let input = json!({ "thread_id": self.thread, "action": action, "why": "it helps" });
        let client = self.up.client(&self.agent);
        // The link is started a moment after it is added.
        for _ in 0..2_000 {
            let reply = client.json("POST", "/v1/proposals", &input);
            if reply.status == 200 {
                return reply.json()["proposal_id"].as_str().unwrap().to_owned();
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        panic!("it cannot be proposed: {}", client.json("POST", "/v1/proposals", &input).text());
    }

    fn state(&self, id: &str) -> Value {
        self.home.run(&["approvals", "show", id, "--json"]).json()
    }
}

#[test]
fn deciding_asks_for_the_passphrase_and_remembers_it_for_that_terminal_alone() {
    let place = Place::new();
    let [first, second, third] = ["one", "two", "three"].map(|text| place.propose(text));
    let person = Person::sits_down(&place.home);
    let from = person.types(&format!("approvals approve {first} --draft 1"));
    person.sees("there is no passphrase yet", from);
    person.chooses();

    // Shown, asked, and unlocked.
    let from = person.types(&format!("approvals approve {first}"));
    person.sees("approve draft 1? [y/N] ", from);
    person.presses("y");
    person.sees("Passphrase for deciding: ", from);
    person.presses(PASSPHRASE);
    person.sees("ended=0", from);
    let seen = place.state(&first);
    let decided = (&seen["state"], &seen["decided_via"], &seen["decided_by"]);
    assert_eq!(decided, (&json!("approved"), &json!("terminal"), &json!("operator")));
    assert!(seen["outbox_id"].is_string());

    // Remembered here.
    let from = person.types(&format!("approvals reject {second} --draft 1"));
    person.sees("ended=0", from);
    assert!(!person.seen(from).contains("Passphrase"), "{}", person.seen(from));

    // Not for another terminal.
    let other = Person::sits_down(&place.home);
    let from = other.types(&format!("approvals approve {third} --draft 1"));
    other.sees("Passphrase for deciding: ", from);
    other.presses("\u{3}");
    other.sees("nothing was done", from);
    assert_eq!(place.state(&third)["state"], "waiting");

    // Not for a shell that another program has in the same terminal.
    let shell = format!("sh -c '{PROGRAM} approvals approve {third} --draft 1; exit $?'");
    let from = person.types_line(&shell);
    person.sees("did not start this command by itself", from);
    person.sees("ended=1", from);
    // Nor in the background.
    let from = person.types_line(&format!("{PROGRAM} approvals approve {third} --draft 1 & wait"));
    person.sees("background", from);
    // Nor for somebody without a terminal, whatever they pipe in.
    let ran = place.home.run(&["approvals", "approve", &third, "--draft", "1"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("a person decides"), "{}", ran.stderr);
    let input = json!({ "proposal_id": third, "version": 1, "decision": "approve" }).to_string();
    let ran = place.home.run(&["call", "decide_proposal", &input]);
    assert!(ran.stderr.contains("relay:decide"), "{}", ran.stderr);
    assert_eq!(place.state(&third)["state"], "waiting");
}

#[test]
fn a_wrong_passphrase_decides_nothing_slows_down_and_is_audited() {
    let place = Place::new();
    let id = place.propose("one");
    let person = Person::sits_down(&place.home);
    person.chooses();
    let from = person.types(&format!("approvals approve {id} --draft 1"));
    person.sees("Passphrase for deciding: ", from);
    person.presses("wrong horse battery");
    person.sees("That is not it.", from);
    assert_eq!(place.state(&id)["state"], "waiting");
    let again = person.0.output_len();
    person.presses(PASSPHRASE);
    person.sees("ended=0", again);
    assert_eq!(place.state(&id)["state"], "approved");
    let trail = place.home.run(&["call", "read_audit", "{\"limit\": 200}"]).json();
    let trail = trail["entries"].as_array().unwrap().clone();
    let outcomes: Vec<_> = trail
        .iter()
        .filter(|entry| entry["operation"] == "unlock_terminal")
        .map(|entry| entry["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(outcomes, ["INSUFFICIENT_AUTHORITY", "ok"]);
    let whole = serde_json::to_string(&trail).unwrap() + &place.home.log();
    assert!(!whole.contains("horse"), "no passphrase stands anywhere");

    // Changing it takes the old one, and locks every terminal again.
    let from = person.types("approvals passphrase");
    person.sees("The passphrase as it is: ", from);
    person.presses("wrong horse battery");
    person.sees("The new passphrase: ", from);
    person.presses("something else");
    person.sees("Once more: ", from);
    person.presses("something else");
    person.sees("the passphrase is wrong", from);
}

#[test]
fn a_token_that_decides_is_issued_behind_the_passphrase() {
    let place = Place::new();
    let id = place.propose("one");
    let words =
        "token issue --agent chief --role operator --scope relay:decide --scope threads:read";
    let ran = place.home.run(&words.split(' ').collect::<Vec<_>>());
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let input = json!({ "agent_id": "chief", "role": "operator", "scopes": ["relay:decide"] });
    let ran = place.home.run(&["call", "issue_token", &input.to_string()]);
    assert!(ran.stderr.contains("INSUFFICIENT_AUTHORITY"), "{}", ran.stderr);
    let person = Person::sits_down(&place.home);
    person.chooses();
    let seen = person.decides(words);
    let token = seen.lines().map(str::trim).find(|line| line.starts_with("ey"));
    let chief = place.up.client(token.unwrap_or_else(|| panic!("no token: {seen}")));
    let decision = json!({ "version": 1, "decision": "approve" });
    let decided = chief.ok("POST", &format!("/v1/proposals/{id}/decision"), &decision);
    assert_eq!((&decided["state"], &decided["decided_via"]), (&json!("approved"), &json!("token")));
}

#[test]
fn a_draft_is_changed_in_the_editor_shown_as_a_diff_and_sent_after_a_yes() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let id = place.propose("The first line\nIt is brokn");
    let editor = place.home.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\n[ \"$1\" = --wait ] && sed -i s/brokn/broken/ \"$2\"\n")
        .unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let person = Person::sits_down(&place.home);
    person.chooses();
    let line = format!("EDITOR='{} --wait' {PROGRAM} approvals edit {id}", editor.display());
    let from = person.types_line(&line);
    person.sees("Passphrase for deciding: ", from);
    person.presses(PASSPHRASE);
    person.sees("-It is brokn", from);
    person.sees("+It is broken", from);
    person.sees("[y/N] ", from);
    person.presses("y");
    person.sees("ended=0", from);
    let seen = place.state(&id);
    let sent = (&seen["state"], &seen["text"]);
    assert_eq!(sent, (&json!("edited"), &json!("The first line\nIt is broken")));
    let left = std::fs::read_dir(place.home.data()).unwrap();
    let drafts = left
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("draft-"));
    assert_eq!(drafts.count(), 0, "no draft is left behind");
}

#[test]
fn what_waits_is_listed_and_shown_with_what_changed_and_why() {
    let place = Place::new();
    assert!(place.home.ok(&["approvals"]).contains("nothing waits for you"));
    let id = place.propose("A line\n\u{1b}[2Jwith tricks");
    let listed = place.home.ok(&["approvals"]);
    assert!(listed.contains(&id) && listed.contains("triage"), "{listed}");
    let revise = json!({ "text": "A line\nwithout tricks" });
    let path = format!("/v1/proposals/{id}/revision");
    place.up.client(&place.agent).ok("POST", &path, &revise);
    let shown = place.home.ok(&["approvals", "show", &id]);
    for part in [ISSUE, "draft 2", "Why:\n  it helps", "+without tricks", "approve", "--draft 2"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let json: Value = serde_json::from_str(&place.home.ok(&["approvals", "--json"])).unwrap();
    assert_eq!(json["proposals"][0]["proposal_id"], json!(id));
}
