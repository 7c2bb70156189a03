//! A stand-in for Claude Code: a program that is started like it, keeps records like it, and reads its
//! threads with the commands of the hub.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Client, Home, PROGRAM};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// What it does when it is started: writes the notice into its transcript, waits until it may go on,
/// reads the thread and acknowledges it. Every start is written down.
const SCRIPT: &str = r#"#!/bin/sh
cd "$HOME" || exit 1
id=$3
notice=$(cat)
wake=$(printf '%s' "$notice" | sed -n 's/.*\[waystation wake \(wk_[0-9A-Z]*\)\].*/\1/p' | head -n 1)
thread=$(printf '%s' "$notice" | sed -n 's/.*thread_id \(th_[0-9A-Z]*\).*/\1/p' | head -n 1)
echo "start $wake $2 $WAYSTATION_AGENT $WAYSTATION_SESSION" >> starts
while [ -e hold-start ]; do sleep 0.05; done
mkdir -p .claude/projects/work
printf '{"type":"user","message":{"role":"user","content":"[waystation wake %s]"}}\n' "$wake" \
    >> ".claude/projects/work/$id.jsonl"
echo '{"type":"system","subtype":"init"}'
echo "turn $wake" >> turns
while [ -e hold-turn ]; do sleep 0.05; done
head=$(PROGRAM call get_thread "{\"thread_id\":\"$thread\"}" | sed -n 's/.*"head_seq": *\([0-9]*\).*/\1/p')
PROGRAM call ack_read "{\"thread_id\":\"$thread\",\"last_read_seq\":$head}" > /dev/null
echo "read $wake $head" >> reads
"#;

/// Makes the stand-in of a home, and the configuration that names it.
pub(crate) fn install(home: &Home) -> PathBuf {
    let file = home.path().join("stand-in");
    std::fs::write(&file, SCRIPT.replace("PROGRAM", PROGRAM)).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    file
}

/// A home whose hub runs the stand-in.
pub(crate) fn home() -> Home {
    let home = Home::generous();
    let file = install(&home);
    home.with("HOST__CLAUDE", file.to_str().unwrap())
}

/// What the registry must know of an agent that ran here once: a session whose process is gone.
pub(crate) fn register(operator: &Client, home: &Home, host: &str, agent: &str) -> String {
    register_as(operator, home, (host, agent), "claude_code", &json!(["claude"]))
}

/// The same of any program and command.
pub(crate) fn register_as(
    operator: &Client,
    home: &Home,
    (host, agent): (&str, &str),
    runtime: &str,
    command: &Value,
) -> String {
    let mut child = Command::new("true").spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started: u64 =
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    child.wait().unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let input = json!({
        "agent_id": agent, "runtime": runtime, "host": host,
        "cwd": home.path().join("work"), "pid": child.id(), "pid_started": started,
        "boot_id": boot.trim(), "command": command,
    });
    let opened = operator.ok("POST", "/v1/sessions", &input);
    opened["session_id"].as_str().unwrap().to_owned()
}

/// The name of a home's machine side.
pub(crate) fn host_id(home: &Home) -> String {
    until("the host has a name", || {
        std::fs::read_to_string(home.data().join("host.id")).ok().map(|id| id.trim().to_owned())
    })
}

/// The lines that the stand-in has written to one of its files.
pub(crate) fn lines(home: &Home, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home.path().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The same, once there are so many.
pub(crate) fn so_many_lines(home: &Home, file: &str, count: usize) -> Vec<String> {
    until(&format!("there are {count} {file}"), || {
        Some(lines(home, file)).filter(|lines| lines.len() >= count)
    })
}

/// Holds the stand-in at a place, until it is let go.
pub(crate) fn hold(home: &Home, place: &str) {
    std::fs::write(home.path().join(place), "").unwrap();
}

/// Lets the stand-in go on.
pub(crate) fn let_go(home: &Home, place: &str) {
    std::fs::remove_file(home.path().join(place)).unwrap();
}

/// Asks for a wake.
pub(crate) fn trigger(operator: &Client, thread: &str, agent: &str) -> Value {
    let input = json!({ "target_agent_id": agent, "reason": "new_unread_messages", "wait_ms": 0 });
    operator.ok("POST", &format!("/v1/threads/{thread}/wakes"), &input)
}

/// The wakes about a thread, the newest first.
pub(crate) fn wakes(client: &Client, thread: &str) -> Vec<Value> {
    client.get(&format!("/v1/wakes?thread_id={thread}"))["wakes"].as_array().unwrap().clone()
}

/// Waits until the newest wake about a thread stands so.
pub(crate) fn until_state(client: &Client, thread: &str, state: &str) -> Value {
    let mut last = Value::Null;
    let found = seek(|| {
        last = wakes(client, thread).into_iter().next().unwrap_or_default();
        (last["state"] == state).then(|| last.clone())
    });
    found.unwrap_or_else(|| panic!("the wake never was {state}: {last}"))
}

/// Asks again and again until there is an answer.
pub(crate) fn until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    seek(ask).unwrap_or_else(|| panic!("it never came about that {what}"))
}

fn seek<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    #[expect(clippy::disallowed_methods, reason = "a test that waits too long must end")]
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    None
}
