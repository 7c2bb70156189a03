//! `waystation review`: two agents, one thread, and the rules of the game in it.

use serde_json::{Value, json};

use crate::program::{Home, Ran};

fn start(home: &Home, more: &[&str]) -> Ran {
    let words = ["review", "start", "Profile mapper", "--author", "coder", "--reviewer", "critic"];
    home.run(&[&words[..], more].concat())
}

/// Posts an event as an agent.
fn event(home: &Home, agent: &str, thread: &str, words: &[&str]) -> Value {
    let mut command = home.command(&[&["post", thread, "--json"][..], words].concat());
    let ran = Ran::of(command.env("WAYSTATION_AGENT", agent).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()
}

#[test]
fn a_review_begins_with_both_told_how_it_goes() {
    let home = Home::new();
    let _up = home.up();
    let made = start(&home, &["--task", "TASK-219", "--json"]).json();
    let thread = made["thread_id"].as_str().unwrap();
    let shown = home.run(&["thread", "show", thread, "--json"]).json();
    assert_eq!(shown["type"], "workflow");
    assert_eq!(shown["participants"], json!(["coder", "critic"]));
    let read = home.run(&["read", thread, "--json"]).json();
    let opening = &read["messages"][0];
    assert_eq!(opening["metadata"]["task_id"], "TASK-219");
    let body = opening["body"].as_str().unwrap();
    for word in
        ["finding_reported", "fix_pushed", "finding_verified", "thread_resolved", "ack_read"]
    {
        assert!(body.contains(word), "{word} in {body}");
    }
    let said = start(&home, &[]).stdout;
    assert!(
        said.contains("never seen here; start it with waystation run coder -- codex"),
        "{said}"
    );
    assert!(said.contains("waystation review show th_"), "{said}");
}

#[test]
fn a_review_is_shown_as_it_stands() {
    let home = Home::new();
    let _up = home.up();
    let made = start(&home, &["--json"]).json();
    let thread = made["thread_id"].as_str().unwrap();
    let severity = r#"{"severity":"high","file":"map.rs","line":4}"#;
    let words = ["Null is lost", "--event", "finding_reported", "--metadata", severity];
    let found = event(&home, "critic", thread, &words);
    let said = home.ok(&["review", "show", thread]);
    assert!(said.starts_with("Profile mapper (active, coder, critic)"), "{said}");
    assert!(said.contains("- open #2: ") && said.contains("Null is lost"), "{said}");
    let finding = found["message_id"].as_str().unwrap();
    let commit = r#"{"commit":"abc1234"}"#;
    let words = ["Fixed", "--event", "fix_pushed", "--metadata", commit, "--reply-to", finding];
    let fixed = event(&home, "coder", thread, &words);
    let fix = fixed["message_id"].as_str().unwrap();
    event(&home, "critic", thread, &["Right", "--event", "finding_verified", "--reply-to", fix]);
    event(&home, "critic", thread, &["Done", "--event", "thread_resolved"]);
    let shown = home.run(&["review", "show", thread, "--json"]).json();
    assert_eq!(shown["thread"]["status"], "resolved");
    assert_eq!(shown["summary"]["open_items"], json!([]));
    assert!(shown["wakes"].is_array(), "{shown}");
}

#[test]
fn what_cannot_be_reviewed_is_explained() {
    let home = Home::new();
    let ran = home.run(&["review", "start", "x", "--author", "a", "--reviewer", "a"]);
    assert!(ran.stderr.contains("nobody verifies their own work"), "{}", ran.stderr);
    assert_eq!(home.run(&["review", "start", "x", "--author", "a"]).code, 2);
    assert_eq!(home.run(&["review", "start", " ", "--author", "a", "--reviewer", "b"]).code, 3);
    assert_eq!(home.run(&["review", "show", "th_x"]).code, 6);
}
