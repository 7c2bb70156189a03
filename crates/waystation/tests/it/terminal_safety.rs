//! What others wrote gives no commands to the terminal that shows it.

use std::fs::File;
use std::io::Write;

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::program::Home;

/// Whether a terminal would take something here for more than text.
fn has_commands(text: &str) -> bool {
    let hides = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || hides(c))
}

const EVIL: &str = "Ev\x1b[31mil\u{9b}2J\u{7f}\u{202e}";

#[test]
fn an_error_that_quotes_somebody_is_only_text() {
    let home = Home::new();
    let path = home.path().join("wa.zip");
    let mut archive = ZipWriter::new(File::create(&path).unwrap());
    let name = format!("WhatsApp Chat with {EVIL}.txt");
    archive.start_file(name, SimpleFileOptions::default()).unwrap();
    archive.write_all(b"this is no chat at all").unwrap();
    archive.finish().unwrap();
    let ran = home.run(&["import", path.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("WhatsApp Chat with Ev"), "{}", ran.stderr);
    assert!(!has_commands(&ran.stderr) && !has_commands(&ran.stdout), "{:?}", ran.stderr);
    // What we say in several lines stays in several lines.
    let unknown = home.run(&["import", home.path().join("no\x1b[31m.bin").to_str().unwrap()]);
    assert!(!has_commands(&unknown.stderr), "{:?}", unknown.stderr);
    let other = home.path().join("letter.bin");
    std::fs::write(&other, "to a friend").unwrap();
    let other = home.run(&["import", other.to_str().unwrap()]);
    assert!(other.stderr.lines().count() > 3, "{}", other.stderr);
}

#[test]
fn json_is_only_text_too_and_the_same_value() {
    let home = Home::new();
    let up = home.up();
    let author = up.client(&home.token("author", "orchestrator"));
    let thread = author.open(&[]);
    let messages = format!("/v1/threads/{thread}/messages");
    author.ok("POST", &messages, &json!({ "body": EVIL, "idempotency_key": "k" }));
    let reason = json!({ "status": "resolved", "reason": "no\u{202e}w" });
    author.ok("PUT", &format!("/v1/threads/{thread}/status"), &reason);
    let read = home.run(&["read", &thread, "--json"]);
    assert!(!has_commands(&read.stdout), "{:?}", read.stdout);
    assert_eq!(read.json()["messages"][0]["body"], EVIL);
    let input = json!({ "thread_id": thread }).to_string();
    let called = home.run(&["call", "read_messages", &input]);
    assert!(!has_commands(&called.stdout), "{:?}", called.stdout);
    assert_eq!(called.json()["messages"][0]["body"], EVIL);
    let exported = home.ok(&["audit", "export"]);
    assert!(!has_commands(&exported), "{exported:?}");
    assert!(exported.contains("u202e"), "the reason stands in the trail: {exported}");
}
