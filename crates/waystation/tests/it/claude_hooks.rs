//! What Claude Code's hooks call, against a running hub. A process that sleeps stands in for Claude
//! Code; what it says of itself is written as the real one writes it.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Home, Ran};

const SESSION: &str = "c2aa0c55-80e3-4fd4-91e6-c476336d15f3";

/// Claude Code with a session open, in a home where its hooks are those of the agent `reviewer`.
struct Claude {
    home: Home,
    process: Child,
}

impl Claude {
    fn new() -> Self {
        let home = Home::generous().with("HOST__CLAUDE", "/nonexistent/claude");
        let process = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let claude = Self { home, process };
        std::fs::create_dir_all(claude.transcript().parent().unwrap()).unwrap();
        std::fs::create_dir_all(claude.folder().join("sessions")).unwrap();
        claude.says(SESSION, "idle");
        claude
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join(".claude")
    }

    fn transcript(&self) -> PathBuf {
        self.folder().join(format!("projects/-srv-project/{SESSION}.jsonl"))
    }

    /// Writes down what Claude Code says of itself.
    fn says(&self, session: &str, status: &str) {
        let pid = self.process.id();
        let record = json!({
            "pid": pid, "sessionId": session, "cwd": "/srv/project", "version": "2.1.325",
            "kind": "interactive", "entrypoint": "cli", "status": status,
        });
        // The real one replaces its record whole, too.
        let draft = self.folder().join("record.tmp");
        std::fs::write(&draft, record.to_string()).unwrap();
        std::fs::rename(draft, self.folder().join(format!("sessions/{pid}.json"))).unwrap();
    }

    /// What a hook is told.
    fn event(&self, name: &str, more: Value) -> Value {
        let mut event = json!({
            "session_id": SESSION, "transcript_path": self.transcript(), "cwd": self.home.path(),
            "hook_event_name": name,
        });
        let Value::Object(more) = more else { return event };
        event.as_object_mut().unwrap().extend(more);
        event
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("CLAUDE_PID", self.process.id().to_string());
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("CLAUDE_CODE_SESSION_ATTENDED", "1");
        command
    }

    /// Parks a waiter, and waits until the hub knows of it.
    fn park(&self) -> Waiter {
        let waiter = self.park_unseen();
        self.until("a waiter is parked", || self.session()["lane"] == "claude_rewake");
        waiter
    }

    fn park_unseen(&self) -> Waiter {
        let event = self.event("SessionStart", json!({ "source": "startup" }));
        let child = start(self.command(&["wait", "--as", "reviewer"]), &event.to_string());
        Waiter(RefCell::new(child))
    }

    /// Calls the hook for an event until it was heard: on a machine that is busy it gives up early.
    fn hook_until(&self, name: &str, more: &Value, is_heard: impl Fn() -> bool) {
        self.until(&format!("{name} is heard"), || {
            self.hook(name, more.clone());
            is_heard()
        });
    }

    /// Calls the hook for an event, which must neither fail nor say anything.
    fn hook(&self, name: &str, more: Value) {
        let ran = ended(start(
            self.command(&["hook", "claude", "--as", "reviewer"]),
            &self.event(name, more).to_string(),
        ));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    }

    fn call(&self, operation: &str, input: &Value) -> Value {
        serde_json::from_str(&self.home.ok(&["call", operation, &input.to_string()])).unwrap()
    }

    /// Our session in the registry.
    fn session(&self) -> Value {
        let all = self.call("list_sessions", &json!({}));
        let ours = |session: &&Value| session["vendor_session_id"] == SESSION;
        all["sessions"].as_array().unwrap().iter().find(ours).cloned().unwrap_or_default()
    }

    fn post(&self) -> String {
        let thread = json!({ "title": "A thread", "participants": ["reviewer"] });
        let thread = self.call("create_thread", &thread)["thread_id"].as_str().unwrap().to_owned();
        self.call(
            "post_message",
            &json!({ "thread_id": thread, "body": "\u{1b}[201~ $(id) secret" }),
        );
        thread
    }

    fn wake(&self) -> Value {
        self.call("list_wakes", &json!({}))["wakes"][0].clone()
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..1_000 {
            if is_so() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let log = std::fs::read_to_string(self.home.data().join("hook.log"));
        panic!("it never came about that {what}; {log:?}");
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A parked `waystation wait`. It is killed when it is dropped.
struct Waiter(RefCell<Child>);

impl Waiter {
    /// What it said when it ended.
    fn ended(self) -> Ran {
        let mut child = self.0.borrow_mut();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Ran { code: child.wait().unwrap().code().unwrap(), stdout, stderr }
    }

    fn is_parked(&self) -> bool {
        self.0.borrow_mut().try_wait().unwrap().is_none()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let child = self.0.get_mut();
        drop(child.kill());
        drop(child.wait());
    }
}

fn start(mut command: Command, input: &str) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that does not want its input may have ended already.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child
}

fn ended(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_post_wakes_an_idle_session_with_a_notice_and_nothing_of_the_message() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    let session = claude.session();
    assert_eq!(session["status"], "idle");
    assert_eq!(session["pid"], claude.process.id());
    assert_eq!(session["runtime_version"], "2.1.325");

    let thread = claude.post();
    let ran = waiter.ended();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let wake = claude.wake();
    let id = wake["wake_id"].as_str().unwrap();
    assert!(ran.stderr.starts_with(&format!("[waystation wake {id}] Thread {thread}")));
    assert!(!ran.stderr.contains("secret") && !ran.stderr.contains("$("), "{}", ran.stderr);
    assert_eq!(
        (&wake["state"], &wake["lane"]),
        (&json!("handed_to_host"), &json!("claude_rewake"))
    );

    // The hook of the turn that begins now sees the notice in what was said.
    let prompt = format!("<system-reminder>\nStop hook feedback: {}</system-reminder>", ran.stderr);
    let stands = |status: &str| claude.session()["status"] == status;
    claude.hook_until("UserPromptSubmit", &json!({ "prompt": prompt }), || stands("active"));
    assert_eq!(claude.wake()["state"], "turn_started");
    claude.hook_until("Stop", &json!({ "stop_hook_active": true }), || stands("idle"));
    claude.hook_until("SessionEnd", &json!({ "reason": "other" }), || stands("offline"));
}

#[test]
fn a_turn_is_also_reported_by_whoever_watches_the_transcript() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    claude.post();
    let notice = waiter.ended().stderr;
    let said = json!({ "type": "user", "message": { "role": "user", "content": notice } });
    std::fs::write(claude.transcript(), format!("{said}\n")).unwrap();
    claude.until("the turn is reported", || claude.wake()["state"] == "turn_started");
}

#[test]
fn nothing_waits_where_no_human_sits() {
    let claude = Claude::new();
    let event = claude.event("SessionStart", json!({})).to_string();
    let wait = |change: &dyn Fn(&mut Command)| {
        let mut command = claude.command(&["wait", "--as", "reviewer"]);
        change(&mut command);
        ended(start(command, &event))
    };
    let changes: [&dyn Fn(&mut Command); 3] = [
        &|command| {
            command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
        },
        &|command| {
            command.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
        },
        &|command| {
            command.env_remove("CLAUDE_CODE_ENTRYPOINT");
        },
    ];
    for change in changes {
        let ran = wait(change);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    }
    assert!(claude.home.owner().is_none(), "no hub was started for that");
}

#[test]
fn the_newest_waiter_of_a_session_is_the_one_that_counts() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let first = claude.park();
    let second = claude.park_unseen();
    let ran = first.ended();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    claude.post();
    assert_eq!(second.ended().code, 2);
}

#[test]
fn a_session_in_a_turn_is_told_when_the_turn_ends() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    let prompt = json!({ "prompt": "do something" });
    claude.hook_until("UserPromptSubmit", &prompt, || claude.session()["status"] == "active");
    claude.post();
    claude.until("there is a wake", || claude.wake()["state"].is_string());
    assert!(waiter.is_parked());
    claude.hook_until("Stop", &json!({}), || !waiter.is_parked());
    assert_eq!(waiter.ended().code, 2);
}

#[test]
fn a_turn_that_was_broken_off_without_a_hook_is_noticed() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    claude.says(SESSION, "busy");
    let prompt = json!({ "prompt": "do something" });
    claude.hook_until("UserPromptSubmit", &prompt, || claude.session()["status"] == "active");
    claude.post();
    // Escape ends a turn, and calls no hook.
    claude.says(SESSION, "idle");
    assert_eq!(waiter.ended().code, 2);
}

#[test]
fn a_dialog_is_told_to_the_registry() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let _waiter = claude.park();
    claude.says(SESSION, "waiting");
    claude.until("the dialog is known", || claude.session()["human_input"]["dialog"] == true);
    claude.says(SESSION, "idle");
    claude.until("the dialog is over", || claude.session()["human_input"]["dialog"] == false);
    let has_dialog = || claude.session()["human_input"]["dialog"] == true;
    claude.hook_until("PermissionRequest", &json!({ "tool_name": "Bash" }), has_dialog);
}

#[test]
fn a_waiter_ends_with_its_session_and_says_so() {
    let mut claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    claude.process.kill().unwrap();
    claude.process.wait().unwrap();
    let ran = waiter.ended();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(claude.session()["status"], "offline");
}

#[test]
fn a_waiter_of_a_session_that_was_left_for_another_ends() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let waiter = claude.park();
    claude.says("e261be10-2099-45ef-8421-1feca2044f3f", "idle");
    let ran = waiter.ended();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_waiter_starts_a_hub_and_outlives_it() {
    let claude = Claude::new();
    let waiter = claude.park_unseen();
    claude.until("a hub was started", || claude.home.owner().is_some());
    claude.until("a waiter is parked", || claude.session()["lane"] == "claude_rewake");
    claude.home.ok(&["down"]);
    let up = claude.home.up();
    claude.until("it is parked again", || claude.session()["lane"] == "claude_rewake");
    up.signal(Signal::KILL);
    up.wait();
    let _up = claude.home.up();
    claude.post();
    let ran = waiter.ended();
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn hooks_never_fail_and_never_speak() {
    let claude = Claude::new();
    std::fs::create_dir_all(claude.home.data()).unwrap();
    let event = claude.event("Stop", json!({})).to_string();
    for (args, input) in [
        (&["hook", "claude"][..], "not JSON"),
        (&["hook", "claude"], ""),
        (&["hook", "claude"], event.as_str()),
        (&["hook", "codex"], event.as_str()),
        (&["hook", "codex-notify", "not JSON"], ""),
        (&["hook", "turn", "start"], ""),
        (&["wait"], "not JSON"),
    ] {
        let ran = ended(start(claude.command(args), input));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{args:?}");
    }
    let log = std::fs::read_to_string(claude.home.data().join("hook.log")).unwrap();
    assert_eq!(log.lines().count(), 7, "{log}");
    assert!(claude.home.owner().is_none(), "a hook starts no hub");
}

#[test]
fn words_that_a_hook_does_not_know_do_not_forbid_what_a_human_said() {
    let claude = Claude::new();
    for args in [&["hook", "claude", "--of-a-later-version"][..], &["wait", "--later"], &["hook"]] {
        let ran = ended(start(claude.command(args), ""));
        assert_eq!(ran.code, 1, "Claude Code takes 2 as a veto: {}", ran.stderr);
    }
}

#[test]
fn codex_is_heard_by_its_hooks_and_by_its_notify_which_goes_on_to_the_next() {
    let claude = Claude::new();
    let _up = claude.home.up();
    let event = claude.event("UserPromptSubmit", json!({ "prompt": "x" })).to_string();
    claude.until("Codex is heard", || {
        ended(start(claude.command(&["hook", "codex", "--as", "coder"]), &event));
        claude.session().is_object()
    });
    let session = claude.session();
    assert_eq!((&session["agent_id"], &session["runtime"]), (&json!("coder"), &json!("codex_cli")));
    assert_eq!(session["status"], "active");

    let next = claude.home.path().join("next.sh");
    let heard = claude.home.path().join("heard");
    std::fs::write(
        &next,
        format!("printf '%s' \"$*\" > {0}.part; mv {0}.part {0}", heard.display()),
    )
    .unwrap();
    let rollouts = claude.home.path().join(".codex/sessions/2026/11/15");
    std::fs::create_dir_all(&rollouts).unwrap();
    let rollout = rollouts.join(format!("rollout-2026-11-15T15-55-49-{SESSION}.jsonl"));
    std::fs::write(rollout, "{\"type\":\"session_meta\",\"payload\":{}}\n").unwrap();
    // A thread that Codex opened for itself, and did not write down.
    let aside = SESSION.replace(['1', '2', '3'], "4");
    let of_itself =
        json!({ "type": "agent-turn-complete", "thread-id": aside, "turn-id": "0", "cwd": "/srv" });
    let words = ["hook", "codex-notify", "--as", "coder", &of_itself.to_string()];
    assert_eq!(ended(start(claude.command(&words), "")).code, 0);
    assert_eq!(claude.session()["status"], "active", "the session is still at work");

    let said = json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "1", "cwd": "/srv" });
    let (next, said) = (next.display().to_string(), said.to_string());
    let words =
        ["hook", "codex-notify", "--as", "coder", "--then", "sh", &next, "--app", "x", &said];
    claude.until("the end of the turn is heard", || {
        let ran = ended(start(claude.command(&words), ""));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        claude.session()["status"] == "idle"
    });
    claude.until("the next one was called", || heard.exists());
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), format!("--app x {said}"));
}

#[test]
fn any_other_program_reports_its_turns_by_name() {
    let claude = Claude::new();
    let _up = claude.home.up();
    for (happened, status) in [("start", "active"), ("end", "idle"), ("leave", "offline")] {
        claude.until("the turn is heard", || {
            let mut command = claude.command(&["hook", "turn", happened, "--runtime", "aider"]);
            command.env("WAYSTATION_AGENT", "helper").env("WAYSTATION_SESSION", "sess_x");
            assert_eq!(ended(start(command, "")).code, 0);
            let sessions = claude.call("list_sessions", &json!({}));
            let session = &sessions["sessions"][0];
            session["runtime"] == "aider" && session["status"] == status
        });
    }
}
