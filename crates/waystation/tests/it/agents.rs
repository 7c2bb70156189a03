//! `waystation agents`: who is there, how each was woken, and what wakes them.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::agent_programs::AtTerminal;
use crate::program::{Home, Up};

/// How often five seconds are waited for what the hub does at once.
const TRIES: usize = 6;

/// A hub at which the agent `coder` runs on a host that is this test.
fn with_coder() -> (Home, Up) {
    let home = Home::new();
    let up = home.up();
    let session = json!({ "agent_id": "coder", "runtime": "codex_cli", "host": "host_test" });
    call(&home, "open_session", &session);
    (home, up)
}

fn call(home: &Home, operation: &str, input: &Value) -> Value {
    serde_json::from_str(&home.ok(&["call", operation, &input.to_string()])).unwrap()
}

fn thread_with_coder(home: &Home) -> String {
    let made = home.run(&["thread", "new", "Work", "--with", "coder", "--json"]).json();
    let thread = made["thread_id"].as_str().unwrap().to_owned();
    home.ok(&["post", &thread, "please look"]);
    thread
}

/// Takes the wake that the post asked for, as a host does.
fn claim(home: &Home) -> Value {
    for _ in 0..TRIES {
        let taken = call(home, "claim_wakes", &json!({ "host": "host_test", "wait_ms": 5_000 }));
        if let Some(wake) = taken["wakes"].get(0) {
            return wake.clone();
        }
    }
    panic!("the post woke nobody");
}

fn report(home: &Home, wake: &Value, state: &str) {
    let lane = "codex_socket";
    call(
        home,
        "report_wake",
        &json!({ "wake_id": wake["wake_id"], "attempt": wake["attempt"], "state": state, "lane": lane }),
    );
}

#[test]
fn an_empty_hub_says_how_to_begin() {
    let home = Home::new();
    let said = home.ok(&["agents"]);
    assert!(said.contains("nobody is here yet") && said.contains("waystation connect"), "{said}");
    assert_eq!(home.ok(&["agents", "wakes"]).trim(), "no wakes");
    assert_eq!(home.run(&["agents", "--json"]).json()["agents"], json!([]));
}

#[test]
fn a_wake_is_seen_from_the_post_to_the_turn() {
    let (home, _up) = with_coder();
    let thread = thread_with_coder(&home);
    let wake = claim(&home);
    for state in ["handing", "handed_to_host", "turn_started"] {
        report(&home, &wake, state);
    }
    let said = home.ok(&["agents"]);
    let line = said.lines().find(|line| line.starts_with("coder")).unwrap();
    for part in ["codex_cli", "codex_socket", " 1 ", "turn_started"] {
        assert!(line.contains(part), "{part} in {said}");
    }
    assert!(line.ends_with(" ms") || line.ends_with(" s"), "{said}");
    assert!(!said.contains('\x1b'), "no colours without a terminal");
    let said = home.ok(&["agents", "wakes", "--open", "--agent", "coder"]);
    assert!(said.contains(wake["wake_id"].as_str().unwrap()) && said.contains(&thread), "{said}");
    let listed = home.run(&["agents", "wakes", "--thread", &thread, "--json"]).json();
    assert_eq!(listed["wakes"][0]["state"], "turn_started");
}

#[test]
fn a_wake_can_be_asked_for_and_taken_back() {
    let (home, _up) = with_coder();
    let thread = thread_with_coder(&home);
    let asked =
        home.run(&["agents", "wake", "coder", "--thread", &thread, "--prompt", "now", "--json"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let wake = asked.json()["wake_id"].as_str().unwrap().to_owned();
    let said = home.ok(&["agents", "cancel", &wake]);
    assert!(said.contains("cancelled"), "{said}");
    let listed = home.run(&["agents", "wakes", "--json"]).json();
    assert_eq!(listed["wakes"][0]["state"], "cancelled");
    let ran = home.run(&["agents", "wake", "nobody", "--thread", &thread]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert_eq!(home.run(&["agents", "cancel", "wk_x"]).code, 6);
}

#[test]
fn a_policy_is_changed_one_thing_at_a_time() {
    let (home, _up) = with_coder();
    let policy = |args: &[&str]| {
        let ran = home.run(&[&["agents", "policy", "coder", "--json"][..], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.json()["policy"].clone()
    };
    let usual = policy(&[]);
    let quiet = policy(&["--quiet", "22:00-07:00", "--zone", "Europe/Berlin"]);
    assert_eq!(quiet["quiet_hours"]["zone"], "Europe/Berlin");
    let both = policy(&["--per-hour", "5", "--new-session", "never", "--on", "mention"]);
    assert_eq!(both["quiet_hours"], quiet["quiet_hours"], "what was set before stays");
    assert_eq!((&both["per_hour_max"], &both["new_session"]), (&json!(5), &json!("never")));
    assert_eq!(both["on"], json!(["mention"]));
    let woken = policy(&["--quiet", "none"]);
    assert_eq!(woken.get("quiet_hours"), None);
    assert_eq!(policy(&["--reset"]), usual);
    let ran = home.run(&["agents", "policy", "coder", "--quiet", "late"]);
    assert!(ran.stderr.contains("22:00-07:00"), "{}", ran.stderr);
    let ran = home.run(&["agents", "policy", "coder", "--quiet", "25:00-07:00", "--zone", "UTC"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
}

#[test]
fn watching_tells_a_script_of_every_change() {
    let (home, _up) = with_coder();
    let mut command = home.command(&["agents", "--watch", "--json"]);
    let mut watch = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = watch.stdout.take().unwrap();
    let mut line = || {
        let mut line = Vec::new();
        let mut byte = [0];
        while out.read_exact(&mut byte).is_ok() && byte != *b"\n" {
            line.push(byte[0]);
        }
        serde_json::from_slice::<Value>(&line).unwrap()
    };
    assert_eq!(line()["agents"][0]["unread"], 0);
    thread_with_coder(&home);
    while line()["agents"][0]["unread"] != 1 {}
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    let ran = home.run(&["agents", "--watch"]);
    assert!(ran.stderr.contains("--watch --json"), "{}", ran.stderr);
}

#[test]
fn watching_has_a_screen_of_its_own_and_gives_the_other_one_back() {
    let (home, _up) = with_coder();
    let mut watch = AtTerminal::start(home.command(&["agents", "--watch"]), "");
    watch.until("Ctrl-C ends");
    assert!(watch.shown.starts_with("\x1b[?1049h") && watch.shown.contains("coder"));
    watch.interrupt();
    assert_eq!(watch.end(), 0);
    assert!(watch.shown.ends_with("\x1b[?25h\x1b[?1049l"), "{:?}", watch.shown);
}

#[test]
fn the_words_for_people_are_explained() {
    let home = Home::new();
    for args in [
        &["connect", "--help"][..],
        &["doctor", "--help"],
        &["agents", "--help"],
        &["agents", "policy", "--help"],
        &["review", "start", "--help"],
    ] {
        insta::assert_snapshot!(args[..args.len() - 1].join("_"), home.ok(args));
    }
    for shell in ["bash", "zsh", "fish"] {
        let words = home.ok(&["completions", shell]);
        for word in ["connect", "doctor", "agents", "review", "undo", "new-session"] {
            assert!(words.contains(word), "{word} for {shell}");
        }
    }
}
