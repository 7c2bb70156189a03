//! One process owns a data folder, whoever starts it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::json;

use crate::program::{Home, Ran};

#[test]
fn two_commands_at_once_start_one_owner() {
    let home = Home::new();
    let commands: Vec<_> = (0..4)
        .map(|n| {
            let title = format!("thread {n}");
            let child = home.command(&["thread", "new", &title, "--json"]);
            thread::spawn(move || {
                let mut child = child;
                Ran::of(child.output().unwrap())
            })
        })
        .collect();
    for command in commands {
        let ran = command.join().unwrap();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let owner = home.owner().expect("an owner stays for a while");
    assert_eq!(owner["url"], json!(null));
    let threads = home.run(&["threads", "--json"]).json();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 4);
    assert_eq!(home.owner().unwrap()["pid"], owner["pid"], "all of them used the same");
}

#[test]
fn an_owner_that_cannot_start_says_why() {
    let home = Home::new();
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("waystation.db"), "this is no database").unwrap();
    std::fs::write(home.data().join("owner.log"), "waystation: of yesterday\n").unwrap();
    let ran = home.run(&["threads"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("no hub answered"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot open the store"), "{}", ran.stderr);
    assert!(ran.stderr.contains("owner.log"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("yesterday"), "{}", ran.stderr);
}

#[test]
fn up_takes_over_from_an_owner_that_was_started_on_demand() {
    let home = Home::new();
    home.ok(&["thread", "new", "before"]);
    let on_demand = home.owner().unwrap();
    let up = home.up();
    let owner = home.owner().unwrap();
    assert_ne!(owner["pid"], on_demand["pid"]);
    assert_eq!(owner["url"], json!(up.url));
    assert!(home.ok(&["threads"]).contains("before"));
    let second = home.run(&["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("already runs"), "{}", second.stderr);
    assert!(second.stderr.contains(&up.url), "{}", second.stderr);
    assert_eq!(up.stop(), 0);
    // And the next command starts one again.
    assert!(home.ok(&["threads"]).contains("before"));
}

#[test]
fn up_takes_over_from_as_many_owners_as_its_clients_start() {
    const CLIENTS: usize = 4;
    const TIMES: usize = 5;
    let home = Home::generous();
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    // One that is answered by nobody says so; the next one is.
                    home.run(&["threads"]);
                }
            });
        }
        // Each is killed while all of them ask, and whoever finds none starts one.
        let has_come = (0..TIMES).all(|_| {
            let up = home.try_up(home.command(&["up", "--listen", "127.0.0.1:0"]));
            up.is_ok_and(|up| {
                up.signal(Signal::KILL);
                up.wait();
                true
            })
        });
        has_ended.store(true, Ordering::Relaxed);
        assert!(has_come, "{}", home.log());
    });
}

#[test]
fn commands_speak_for_whom_the_environment_names() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "x", "--with", "codex", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    let mut as_agent = home.command(&["post", thread, "hello"]);
    let ran = Ran::of(as_agent.env("WAYSTATION_AGENT", "codex").output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut outsider = home.command(&["post", thread, "hello"]);
    let ran = Ran::of(outsider.env("WAYSTATION_AGENT", "stranger").output().unwrap());
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let token = home.token("claude", "worker");
    let mut with_token = home.command(&["threads", "--json"]);
    let ran = Ran::of(with_token.env("WAYSTATION_TOKEN", &token).output().unwrap());
    assert_eq!(ran.json()["threads"], json!([]), "claude takes part in nothing");
    let mut bad = home.command(&["threads"]);
    let ran = Ran::of(bad.env("WAYSTATION_TOKEN", "x.y.z").output().unwrap());
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let log = home.run(&["read", thread, "--json"]).json();
    assert_eq!(log["messages"][0]["sender_agent_id"], "codex");
}

#[test]
fn a_role_or_a_session_without_an_agent_makes_nobody_the_operator() {
    let home = Home::new();
    let thread = home.run(&["thread", "new", "x", "--with", "codex", "--json"]).json();
    let thread = thread["thread_id"].as_str().unwrap();
    for (name, value) in [("WAYSTATION_ROLE", "observer"), ("WAYSTATION_SESSION", "sess_x")] {
        let mut nobody = home.command(&["post", thread, "hello"]);
        let ran = Ran::of(nobody.env(name, value).output().unwrap());
        assert_eq!(ran.code, 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
        assert!(ran.stderr.contains("set WAYSTATION_AGENT too"), "{}", ran.stderr);
    }
    assert_eq!(home.run(&["read", thread, "--json"]).json()["messages"], json!([]));
    let mut observer = home.command(&["post", thread, "hello"]);
    observer.env("WAYSTATION_ROLE", "observer").env("WAYSTATION_AGENT", "codex");
    assert_eq!(Ran::of(observer.output().unwrap()).code, 5);
}
