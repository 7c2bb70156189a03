//! A command whose hub dies before it answers.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use serde_json::json;

use crate::program::{Home, Ran};

/// Runs a command with an owner that is gone as soon as it has read what it was asked.
fn run(home: &Home, args: &[&str]) -> Ran {
    home.ok(&["down"]);
    let owner = UnixListener::bind(home.data().join("hub.sock")).unwrap();
    let mut command = home.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut asked = BufReader::new(owner.accept().unwrap().0);
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        asked.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(length) = line.strip_prefix("content-length: ") {
            bytes = length.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    asked.read_exact(&mut vec![0; bytes]).unwrap();
    drop(owner);
    drop(asked);
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn what_may_be_asked_twice_is_asked_again() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "t", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    let ran = run(&home, &["threads"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains(thread), "{}", ran.stdout);
    let ran = run(&home, &["post", thread, "hello", "--key", "k", "--json"]);
    assert_eq!((ran.code, &ran.json()["seq"]), (0, &json!(1)), "{}", ran.stderr);
}

#[test]
fn of_any_other_change_it_is_said_that_its_outcome_is_unknown() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "t", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    let ran = run(&home, &["post", thread, "hello"]);
    assert_eq!(ran.code, 10, "{}", ran.stderr);
    for part in ["not known", &format!("waystation read {thread}"), "--key"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(home.ok(&["read", thread]).starts_with("no messages"));
}
