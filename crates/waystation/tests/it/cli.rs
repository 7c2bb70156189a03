//! The command line: friendly words, JSON for scripts, exit codes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{Home, Ran};

#[test]
fn a_thread_lives_from_the_command_line() {
    let home = Home::new();
    let made = home.run(&[
        "thread", "new", "A title", "--with", "codex", "--with", "claude", "--type", "incident",
        "--json",
    ]);
    let made = made.json();
    let thread = made["thread_id"].as_str().unwrap();
    let posted = home.run(&["post", thread, "hello", "--key", "k1", "--json"]).json();
    assert_eq!(posted["seq"], 1);
    assert_eq!(home.run(&["post", thread, "hello", "--key", "k1", "--json"]).json(), posted);
    let reply = posted["message_id"].as_str().unwrap();
    home.ok(&[
        "post",
        thread,
        "found",
        "--event",
        "finding_reported",
        "--metadata",
        r#"{"severity":"high"}"#,
    ]);
    home.ok(&["post", thread, "an answer", "--reply-to", reply]);
    let read = home.ok(&["read", thread]);
    assert!(
        read.starts_with("#1 ") && read.contains("hello") && read.contains("finding_reported"),
        "{read}"
    );
    let read = home.run(&["read", thread, "--since", "2", "--limit", "1", "--json"]).json();
    assert_eq!(read["messages"][0]["in_reply_to"], posted["message_id"]);
    let shown = home.ok(&["thread", "show", thread]);
    assert!(shown.contains("A title") && shown.contains("claude, codex"), "{shown}");
    home.ok(&["thread", "add", thread, "third", "fourth"]);
    home.ok(&["thread", "remove", thread, "third"]);
    assert!(home.ok(&["thread", "summary", thread]).contains("finding"));
    home.ok(&["thread", "status", thread, "resolved", "--reason", "enough"]);
    for list in [["threads"].as_slice(), &["thread", "list"]] {
        let listed = home.ok(&[list, &["--status", "resolved", "--limit", "5"]].concat());
        assert!(listed.contains(thread) && listed.contains("resolved"), "{listed}");
    }
    assert_eq!(home.ok(&["threads", "--status", "blocked"]).trim(), "no threads");
    assert_eq!(home.ok(&["sessions", "--online"]).trim(), "no sessions");
    let called = home.run(&["call", "get_thread", &json!({ "thread_id": thread }).to_string()]);
    assert_eq!(called.json()["type"], "incident");
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    let ran = home.run(&["call", "create_thread", r#"{"title":"a","title":"b"}"#]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("title stands there twice"), "{}", ran.stderr);
    let metadata = ["--metadata", r#"{"a":1,"a":2}"#];
    let ran = home.run(&[["post", thread, "hello"].as_slice(), &metadata].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("--metadata"), "{}", ran.stderr);
    assert!(home.ok(&["read", thread]).starts_with("no messages"));
}

#[test]
fn what_cannot_be_printed_is_blamed_on_the_output() {
    let home = Home::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = Ran::of(home.command(&["threads"]).stdout(full).output().unwrap());
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("cannot write to standard output"), "{}", ran.stderr);
}

#[test]
fn text_may_come_from_stdin() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    let long = "line\n".repeat(1_000);
    let ran = piped(&home, &["post", thread, "-"], long.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let input = json!({ "thread_id": thread, "body": "called" }).to_string();
    let ran = piped(&home, &["call", "post_message", "-"], input.as_bytes());
    assert_eq!(ran.json()["seq"], 2);
    let found = home.run(&["read", thread, "--json"]).json();
    assert_eq!(found["messages"][0]["body"], json!(long));
    let ran = piped(&home, &["post", thread, "-"], b"\xff\xfe");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("UTF-8"), "{}", ran.stderr);
}

fn piped(home: &Home, args: &[&str], input: &[u8]) -> Ran {
    let mut command = home.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_refusal_has_the_exit_code_of_its_error_and_says_what_to_do() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    home.ok(&["post", thread, "a", "--key", "k"]);
    for (code, name, args) in [
        (3, "VALIDATION_ERROR", vec!["thread", "new", " "]),
        (3, "VALIDATION_ERROR", vec!["call", "get_thread", "{}"]),
        (3, "VALIDATION_ERROR", vec!["threads", "--status", "gone"]),
        (3, "VALIDATION_ERROR", vec!["call", "get_thread", "{"]),
        (3, "UNKNOWN_OPERATION", vec!["call", "get_thred"]),
        (6, "NOT_FOUND", vec!["thread", "show", "th_x"]),
        (7, "IDEMPOTENCY_CONFLICT", vec!["post", thread, "b", "--key", "k"]),
        (5, "CLAIM_MISMATCH", vec!["call", "create_thread", r#"{"title":"x","created_by":"y"}"#]),
    ] {
        let ran = home.run(&args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with("waystation: ") && ran.stderr.contains(name),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "");
    }
    assert!(home.run(&["call", "get_thred"]).stderr.contains("get_thread"));
    let ran = home.run(&["post", thread, "x", "--metadata", "[]"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--metadata"), "{}", ran.stderr);
    for args in [vec!["frobnicate"], vec!["post"], vec!["threads", "--limit", "x"], vec!["--nope"]]
    {
        let ran = home.run(&args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains("Usage") || ran.stderr.contains("--help"), "{}", ran.stderr);
    }
}

#[test]
fn the_program_explains_itself() {
    let home = Home::new();
    let help = home.ok(&["--help"]);
    for command in
        ["up", "mcp", "call", "threads", "thread", "post", "read", "tail", "token", "backup"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command} in {help}");
    }
    assert!(home.ok(&["--version"]).starts_with("waystation 0."));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.ok(&["completions", shell]).contains("waystation"), "{shell}");
    }
    let manual = home.ok(&["man"]);
    assert!(manual.contains(".TH") && manual.contains("waystation"), "{manual}");
    let listed = home.ok(&["call"]);
    assert!(listed.contains("post_message") && listed.contains("Post a message"), "{listed}");
    let listed = home.run(&["call", "--json"]).json();
    let entries = listed.as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["input"].is_object() && entry["scope"].is_string()));
    assert!(!home.data().exists(), "none of that needs a data folder");
}

#[test]
fn a_group_of_commands_explains_itself_and_changes_nothing() {
    let home = Home::new();
    let reference = home.path().join("docs/reference/config.md");
    std::fs::create_dir_all(reference.parent().unwrap()).unwrap();
    std::fs::write(&reference, "what somebody wrote").unwrap();
    for group in ["docs", "token", "audit"] {
        let ran = home.run(&[group]);
        assert_eq!(ran.code, 2, "{group}");
        assert!(ran.stderr.contains(&format!("Usage: waystation {group}")), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(&reference).unwrap(), "what somebody wrote");
    assert_eq!(std::fs::read_dir(reference.parent().unwrap()).unwrap().count(), 1);
    assert!(!home.ok(&["--help"]).contains("reference"), "it is for whoever works on the program");
}

#[test]
fn what_breaks_inside_the_hub_names_the_request_to_look_for_in_its_log() {
    let home = Home::new();
    home.ok(&["thread", "new", "x"]);
    let database = rusqlite::Connection::open(home.data().join("waystation.db")).unwrap();
    database.execute_batch("DROP TABLE read_cursor").unwrap();
    drop(database);
    let ran = home.run(&["threads"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("(INTERNAL)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("log says why, under request req_"), "{}", ran.stderr);
    let (_, id) = ran.stderr.split_once("request req_").unwrap();
    let id = id.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
    let log = std::fs::read_to_string(home.data().join("owner.log")).unwrap();
    let line = log.lines().find(|line| line.contains(id)).unwrap();
    assert!(line.contains("no such table: read_cursor"), "{line}");
}

/// Far less than a wait for messages takes when nobody rings: only what is told live comes so soon.
const LIVE: Duration = Duration::from_secs(30);

/// A thread that somebody follows.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn of(home: &Home, thread: &str) -> Self {
        let mut command = home.command(&["tail", thread, "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)).ok()
        });
        Self { child, lines }
    }

    /// The next message that it prints.
    fn next(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(LIVE).unwrap()).unwrap()
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
    }
}

fn new_thread(home: &Home) -> String {
    let thread = home.run(&["thread", "new", "x", "--json"]).json();
    thread["thread_id"].as_str().unwrap().to_owned()
}

#[test]
fn tail_follows_a_thread_live() {
    let home = Home::new();
    let thread = new_thread(&home);
    home.ok(&["post", &thread, "before"]);
    let tail = Tail::of(&home, &thread);
    assert_eq!(tail.next()["body"], "before");
    let mut other = home.command(&["call", "post_message"]);
    other.arg(json!({ "thread_id": thread, "body": "of somebody else" }).to_string());
    let token = home.token("guide", "orchestrator");
    assert_eq!(Ran::of(other.env("WAYSTATION_TOKEN", token).output().unwrap()).code, 0);
    assert_eq!(tail.next()["body"], "of somebody else");
    home.ok(&["post", &thread, "my own"]);
    assert_eq!(tail.next()["body"], "my own");
    tail.stop();
}

#[test]
fn tail_goes_on_when_the_owner_is_killed() {
    let home = Home::new();
    let thread = new_thread(&home);
    home.ok(&["post", &thread, "first"]);
    let tail = Tail::of(&home, &thread);
    assert_eq!(tail.next()["body"], "first");
    for body in ["second", "third"] {
        let owner = home.owner().unwrap()["pid"].as_i64().unwrap();
        let pid = Pid::from_raw(i32::try_from(owner).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        // Whoever asked one that is dying would be told so; only tail is to bridge that.
        while home.owner().is_some_and(|found| found["pid"] == owner) {}
        home.ok(&["post", &thread, body]);
        assert_eq!(tail.next()["body"], body);
    }
    tail.stop();
}

#[test]
fn what_is_followed_ends_when_nobody_reads_it() {
    let home = Home::new();
    let thread = new_thread(&home);
    home.ok(&["post", &thread, "first"]);
    for words in [
        &["tail", &thread, "--json"],
        &["audit", "tail", "--json"],
        &["agents", "--watch", "--json"],
    ] {
        let mut child = home.command(words).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        drop(out);
        let pid = Pid::from_child(&child);
        let (tell, ended) = channel();
        std::thread::spawn(move || tell.send(child.wait().unwrap().code()));
        let code = ended.recv_timeout(LIVE).unwrap_or_else(|_| {
            kill_process(pid, Signal::KILL).unwrap();
            panic!("{words:?} goes on");
        });
        assert_eq!(code, Some(0), "{words:?}");
    }
}

#[test]
fn what_ends_the_hub_and_what_explains_it_answer_scripts_too() {
    let home = Home::new();
    assert_eq!(home.run(&["down", "--json"]).json(), json!({ "stopped": false }));
    new_thread(&home);
    assert_eq!(home.run(&["down", "--json"]).json(), json!({ "stopped": true }));
    assert_eq!(home.ok(&["down"]), "no hub was running\n");
    let note = home.run(&["audit", "checkpoint", "--json"]).json();
    assert_eq!(note["checkpoint"].as_str().unwrap(), home.ok(&["audit", "checkpoint"]));
    let told = home.run(&["config", "--json"]).json();
    let settings = told["settings"].as_array().unwrap();
    let setting = |key: &str| settings.iter().find(|setting| setting["key"] == key).unwrap();
    let listen = setting("listen");
    assert_eq!((&listen["default"], &listen["type"]), (&json!("127.0.0.1:7788"), &json!("string")));
    assert_eq!(setting("limits.posts_burst")["variable"], "WAYSTATION_LIMITS__POSTS_BURST");
    assert_eq!(setting("identity.issuers.jwks_url")["variable"], Value::Null);
    let variables = told["variables"].as_array().unwrap();
    assert!(variables.iter().any(|variable| variable["variable"] == "WAYSTATION_TOKEN_FILE"));
    assert!(home.ok(&["config"]).contains("| `posts_burst` |"));
}
