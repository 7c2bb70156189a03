//! Notices are typed where nobody is disturbed, and nothing but notices is.

use serde_json::json;

use super::keeper::{Keeper, SHELL, notice};
use super::terminal::eventually;

#[test]
fn a_notice_is_typed_whole_and_once() {
    let keeper = Keeper::scripted(&["--paste", "--burst-ms=120"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    keeper.insist("wk_1");
    assert_eq!(keeper.wake("wk_1"), "done", "again is no second time");
    eventually("it is read", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": notice("wk_1") })]);
    assert_eq!(keeper.ask(&json!({ "has_arrived": { "wake_id": "wk_1" } })), json!({ "is": true }));
    assert_eq!(
        keeper.ask(&json!({ "has_arrived": { "wake_id": "wk_2" } })),
        json!({ "is": false })
    );
    let typed = format!("\x1b[200~{}\x1b[201~\r", notice("wk_1"));
    assert_eq!(String::from_utf8(keeper.keys()).unwrap(), typed);
}

#[test]
fn without_marks_for_pastes_there_are_none() {
    let keeper = Keeper::scripted(&["--burst-ms=120"], &json!({}));
    let _terminal = keeper.attach();
    keeper.insist("wk_1");
    eventually("it is read", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(String::from_utf8(keeper.keys()).unwrap(), format!("{}\r", notice("wk_1")));
}

#[test]
fn a_half_typed_line_waits_for_its_human_however_long_they_are_quiet() {
    let keeper = Keeper::scripted(&[], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"half");
    terminal.wait_for("half");
    eventually("it is seen", || (keeper.look()["draft"] == true).then_some(()));
    // Also when nothing has happened for a while.
    eventually("all is still", || (keeper.look()["quiet_ms"].as_u64()? > 1_500).then_some(()));
    assert_eq!(keeper.wake("wk_1"), json!({ "refused": "human_input_busy" }));
    terminal.press(b"\x7f\x7f\x7f\x7f");
    keeper.insist("wk_1");
    assert!(!keeper.keys().starts_with(b"half\x7f\x7f\x7f\x7f\r"));
    eventually("it is read", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": notice("wk_1") })]);
}

#[test]
fn escape_on_an_empty_line_is_no_draft() {
    let keeper = Keeper::scripted(&["--paste"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"\x1b");
    eventually("the key is seen", || keeper.look()["quiet_ms"].is_number().then_some(()));
    eventually("it wrote nothing", || (keeper.look()["draft"] == false).then_some(()));
    keeper.insist("wk_1");
    eventually("it is read", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": notice("wk_1") })]);
    // What is typed after it is a draft as ever.
    terminal.press(b"\x1b");
    eventually("it wrote nothing", || (keeper.look()["draft"] == false).then_some(()));
    terminal.press(b"\x1b[200~half\x1b[201~");
    terminal.wait_for("half");
    eventually("it is seen", || (keeper.look()["draft"] == true).then_some(()));
}

#[test]
fn somebody_who_typed_a_moment_ago_is_left_alone() {
    let keeper = Keeper::scripted(&[], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"sent\r");
    eventually("it is read", || (!keeper.transcript().is_empty()).then_some(()));
    let type_ = json!({ "wake_id": "wk_1", "typed": notice("wk_1"), "quiet_ms": 600_000 });
    assert_eq!(keeper.ask(&json!({ "type": type_ })), json!({ "refused": "human_input_busy" }));
}

#[test]
fn a_dialog_is_never_answered() {
    let keeper = Keeper::scripted(&["--dialog-every=1"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"go\r");
    terminal.wait_for("1. Yes");
    eventually("the dialog is seen", || (keeper.look()["activity"] == "dialog").then_some(()));
    eventually("the dialog is what keeps it", || {
        let answer = keeper.wake("wk_1");
        assert!(answer.get("refused").is_some(), "{answer}");
        (answer == json!({ "refused": "dialog_open" })).then_some(())
    });
    terminal.press(b"1\r");
    keeper.insist("wk_1");
    eventually("it is read", || (keeper.transcript().len() == 3).then_some(()));
    let expected =
        [json!({ "line": "go" }), json!({ "dialog": "1\r" }), json!({ "line": notice("wk_1") })];
    assert_eq!(keeper.transcript(), expected);
}

#[test]
fn a_program_at_work_is_not_typed_at() {
    let keeper = Keeper::scripted(&["--turn-ms=2500"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"go\r");
    terminal.wait_for("working");
    assert_eq!(keeper.wake("wk_1"), json!({ "refused": "turn_running" }));
    assert_eq!(keeper.look()["activity"], "busy");
    keeper.insist("wk_1");
}

#[test]
fn a_notice_has_arrived_only_when_the_program_has_taken_its_enter() {
    let letters = notice("wk_1").len();
    // It reads and echoes the letters, and Enter only when somebody writes to the pipe.
    let script = format!(
        "stty raw -echo; mkfifo pipe; printf '> '; dd bs=1 count={letters} 2>/dev/null
         cat pipe; dd bs=1 count=1 of=enter 2>/dev/null; printf taken; cat pipe"
    );
    let keeper = Keeper::of(&["/bin/sh", "-c", &script]);
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    let has_arrived = || keeper.ask(&json!({ "has_arrived": { "wake_id": "wk_1" } }));
    std::thread::scope(|scope| {
        let typing = scope.spawn(|| keeper.insist("wk_1"));
        eventually("Enter was pressed", || {
            let records = std::fs::read_to_string(keeper.folder.join("wakes")).ok()?;
            records.contains("entering wk_1").then_some(())
        });
        // If the keeper were killed now, the Enter would be lost with the terminal.
        assert_eq!(has_arrived(), json!({ "unsure": "it was begun" }));
        std::fs::write(keeper.home.path().join("pipe"), "go on").unwrap();
        typing.join().unwrap();
    });
    assert_eq!(has_arrived(), json!({ "is": true }));
    assert_eq!(std::fs::read(keeper.home.path().join("enter")).unwrap(), b"\r");
}

#[test]
fn another_program_in_front_is_not_typed_at() {
    let keeper = Keeper::of(&SHELL);
    let mut terminal = keeper.attach();
    terminal.wait_for("shell% ");
    terminal.press(b"cat\r");
    terminal.wait_for("cat\r\n");
    eventually("all is still", || (keeper.look()["quiet_ms"].as_u64()? > 1_500).then_some(()));
    assert_eq!(keeper.wake("wk_1"), json!({ "refused": "turn_running" }));
    terminal.press(b"\x04");
    keeper.insist("wk_1");
    // The shell does not understand it, and says so.
    terminal.wait_for("syntax error");
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let keeper = Keeper::scripted(&["--paste"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    eventually("all is still", || (keeper.look()["activity"] == "idle").then_some(()));
    let mut hostile = vec![
        "\x1b[201~\r".to_owned(),
        "\x03".to_owned(),
        "a\rb".to_owned(),
        "a\nb".to_owned(),
        "$(touch x)".to_owned(),
        "`id`".to_owned(),
        "a;b|c&d".replace(';', "$"),
        "\u{9b}201~".to_owned(),
        "\u{202e}".to_owned(),
        "{\"a\":1}".to_owned(),
        "x".repeat(5_000),
    ];
    hostile.extend((0..0x20_u8).chain(0x7f..=0x9f).map(|byte| char::from(byte).to_string()));
    hostile.extend(testkit::naughty::LINES.iter().map(|text| (*text).to_owned()).filter(|text| {
        !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _.,:;()[]-".contains(&byte))
    }));
    for text in hostile {
        let typed = format!("wk_1 {text}");
        let request = json!({ "type": { "wake_id": "wk_1", "typed": typed, "quiet_ms": 0 } });
        let answer = keeper.ask(&request);
        assert!(answer.get("wrong").is_some(), "{text:?}: {answer}");
    }
    assert_eq!(keeper.keys(), b"", "not a byte of it was typed");
    keeper.insist("wk_1");
    let typed = format!("\x1b[200~{}\x1b[201~\r", notice("wk_1"));
    eventually("it is read", || (keeper.keys().ends_with(b"\r")).then_some(()));
    assert_eq!(String::from_utf8(keeper.keys()).unwrap(), typed);
}

#[test]
fn a_turn_counts_when_somebody_saw_it() {
    let keeper = Keeper::scripted(&[], &json!({}));
    let _terminal = keeper.attach();
    keeper.insist("wk_1");
    let wait = |ms: u32| json!({ "await_turn": { "wake_id": "wk_1", "patience_ms": ms } });
    assert_eq!(keeper.ask(&wait(50)), json!({ "is": false }), "a changed screen is no proof");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| keeper.ask(&wait(60_000)));
        assert_eq!(keeper.ask(&json!({ "turn": "wk_1" })), "done");
        assert_eq!(waiting.join().unwrap(), json!({ "is": true }));
    });
}
