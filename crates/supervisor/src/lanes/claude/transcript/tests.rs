//! Transcripts as the real program wrote them, and as long ones as it may write.

use std::io::Write;

use super::*;

const REWOKEN: &str = include_str!("../fixtures/rewoken.jsonl");
const ABSORBED: &str = include_str!("../fixtures/absorbed.jsonl");
const RESUMED: &str = include_str!("../fixtures/resumed.jsonl");

fn file_of(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn a_notice_that_woke_an_idle_session_is_in_a_turn() {
    let file = file_of(REWOKEN);
    for wake in ["wk_1", "wk_2", "wk_3"] {
        assert_eq!(search(file.path(), wake).unwrap(), Found::Marked(Mark::InTurn), "{wake}");
    }
    assert_eq!(search(file.path(), "wk_4").unwrap(), Found::Nothing);
    assert_eq!(search(file.path(), "wk_").unwrap(), Found::Nothing, "a part of an id is none");
}

#[test]
fn a_notice_that_came_into_a_running_turn_is_in_a_turn() {
    let file = file_of(ABSORBED);
    assert_eq!(search(file.path(), "wk_4").unwrap(), Found::Marked(Mark::InTurn));
    // Before the running turn took it up it was only queued.
    let queued = ABSORBED.lines().take_while(|line| !line.contains("absorbed_mid_turn"));
    let file = file_of(&queued.collect::<Vec<_>>().join("\n"));
    assert_eq!(search(file.path(), "wk_4").unwrap(), Found::Marked(Mark::Queued));
}

#[test]
fn a_notice_that_a_resumed_session_was_started_with_is_in_a_turn() {
    let file = file_of(RESUMED);
    assert_eq!(search(file.path(), "wk_5").unwrap(), Found::Marked(Mark::InTurn));
}

#[test]
fn what_the_agent_and_its_tools_say_of_a_wake_proves_nothing() {
    let lines = [
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"wk_8"}]}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"wk_8"}]}}"#,
        r#"{"type":"last-prompt","lastPrompt":"wk_8"}"#,
        r#"{"type":"user","message":{"role":"user","content":"wk_8"#,
        "wk_8",
    ];
    let file = file_of(&lines.join("\n"));
    assert_eq!(search(file.path(), "wk_8").unwrap(), Found::Nothing);
}

#[test]
fn a_notice_is_found_wherever_it_stands_in_a_long_transcript() {
    let filler = format!("{{\"type\":\"assistant\",\"text\":\"{}\"}}\n", "x".repeat(70_001));
    let said = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[waystation wake wk_9] Thread"}]}}"#;
    for before in [0, 1, 14, 15, 30, 45] {
        let after = 45 - before;
        let text = format!("{}{said}\n{}", filler.repeat(before), filler.repeat(after));
        let file = file_of(&text);
        assert!(file.path().metadata().unwrap().len() > 3 * TRANSCRIPT_BLOCK_BYTES);
        assert_eq!(search(file.path(), "wk_9").unwrap(), Found::Marked(Mark::InTurn), "{before}");
    }
}

#[test]
fn a_line_longer_than_a_block_is_still_one_line() {
    let long = "y".repeat(usize::try_from(TRANSCRIPT_BLOCK_BYTES).unwrap() * 5 / 2);
    let said = format!(
        r#"{{"type":"user","message":{{"role":"user","content":"wk_10 {long}"}}}}{}"#,
        "\n"
    );
    let file = file_of(&format!("{said}{{\"type\":\"mode\"}}\n"));
    assert_eq!(search(file.path(), "wk_10").unwrap(), Found::Marked(Mark::InTurn));
}

#[test]
fn a_watch_sees_a_notice_come_nearer_in_pieces() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut watch = Watch::new(file.path().to_owned(), "wk_3");
    assert_eq!(watch.look(), None);
    let mut seen = Vec::new();
    for piece in REWOKEN.as_bytes().chunks(97) {
        file.write_all(piece).unwrap();
        seen.extend(watch.look());
    }
    assert_eq!(seen, [Mark::Queued, Mark::InTurn]);
}

#[test]
fn a_watch_waits_for_a_transcript_that_is_not_there_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later.jsonl");
    let mut watch = Watch::new(path.clone(), "wk_5");
    assert_eq!(watch.look(), None);
    std::fs::write(&path, RESUMED).unwrap();
    assert_eq!(watch.look(), Some(Mark::InTurn));
}

#[test]
fn a_transcript_is_found_by_its_session() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(path_of(folder.path(), "s-1"), None);
    let project = folder.path().join("projects/-srv-project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("s-1.jsonl"), "").unwrap();
    assert_eq!(path_of(folder.path(), "s-1"), Some(project.join("s-1.jsonl")));
}
