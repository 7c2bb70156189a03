//! A terminal's life: shown, left, come back to, resized, stopped, hung up on, started anew.

use std::process::Command;

use serde_json::json;

use super::keeper::{Keeper, SHELL};
use super::terminal::{Terminal, eventually};

#[test]
fn the_exit_code_of_the_program_is_that_of_the_command() {
    let keeper = Keeper::of(&["/bin/sh", "-c", "echo hello; exit 7"]);
    let mut terminal = keeper.attach();
    terminal.wait_for("hello");
    assert_eq!(terminal.wait(), 7);
    let folder = keeper.folder.clone();
    assert_eq!(keeper.wait(), 0);
    assert!(!folder.join("keeper.sock").exists() && !folder.join("token").exists());
}

#[test]
fn a_killed_program_ends_as_in_a_shell() {
    let keeper = Keeper::of(&["/bin/sh", "-c", "kill -9 $$"]);
    assert_eq!(keeper.attach().wait(), 128 + 9);
}

#[test]
fn a_program_that_does_not_start_is_said_to() {
    let keeper = Keeper::of(&["/etc/passwd"]);
    let mut terminal = keeper.attach();
    terminal.wait_for("could not be started");
    assert_eq!(terminal.wait(), 127);
}

#[test]
fn a_terminal_is_left_and_come_back_to() {
    let mut keeper = Keeper::scripted(&["--paste"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"half typed");
    terminal.wait_for("half typed");
    assert!(terminal.is_raw());
    terminal.press(b"\x1dd");
    // What the program had switched on is off again.
    terminal.wait_for("\x1b[?2004l");
    assert_eq!(terminal.wait(), 0);
    assert!(!terminal.is_raw());
    assert!(keeper.is_alive());
    let mut terminal = keeper.attach();
    terminal.wait_for("\x1b[?2004h");
    terminal.wait_for("half typed");
    terminal.press(b" line\r");
    eventually("the line is sent", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": "half typed line" })]);
    terminal.press(b"\x1d\x1d\x04");
    assert_eq!(terminal.wait(), 0);
    assert!(keeper.keys().ends_with(b"\r\x1d\x04"), "twice the prefix sends one");
}

#[test]
fn a_closed_window_is_no_end() {
    let mut keeper = Keeper::scripted(&["--exit-code=3"], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"kept");
    terminal.wait_for("kept");
    let mut watcher = terminal.close();
    eventually("the watcher ends", || watcher.try_wait().unwrap());
    eventually("it is noticed", || (keeper.look()["watchers"] == 0).then_some(()));
    assert!(keeper.is_alive());
    let mut terminal = keeper.attach();
    terminal.wait_for("> kept");
    terminal.press(b"\x15\x04");
    assert_eq!(terminal.wait(), 3);
}

#[test]
fn the_newest_window_rules() {
    let keeper = Keeper::of(&SHELL);
    let mut one = keeper.attach();
    one.wait_for("shell% ");
    one.press(b"stty size\r");
    one.wait_for("24 80");
    one.resize(30, 100);
    eventually("the window's size arrives", || {
        one.press(b"stty size\r");
        one.wait_for("stty size");
        one.wait_for("shell% ").contains("30 100").then_some(())
    });
    let mut two = keeper.attach();
    two.wait_for("shell% ");
    eventually("another window's size arrives", || {
        two.press(b"stty size\r");
        two.wait_for("stty size");
        two.wait_for("shell% ").contains("24 80").then_some(())
    });
    two.press(b"exit\r");
    assert_eq!((one.wait(), two.wait()), (0, 0));
}

#[test]
fn ctrl_z_stops_both_and_the_shell_continues_both() {
    let keeper = Keeper::scripted(&[], &json!({}));
    let attach = keeper.attach_command();
    let mut shell = keeper.home.command_of("/bin/bash".as_ref(), &["--norc", "-i"]);
    shell.env("PS1", "shell% ");
    let mut terminal = Terminal::open(&shell);
    terminal.wait_for("shell% ");
    let words: Vec<_> = std::iter::once(attach.get_program()).chain(attach.get_args()).collect();
    let line = words.join(std::ffi::OsStr::new(" ")).into_string().unwrap();
    terminal.press(format!("{line}\r").as_bytes());
    terminal.wait_for("> ");
    terminal.press(b"before");
    terminal.wait_for("before");
    terminal.press(b"\x1a");
    terminal.wait_for("Stopped");
    terminal.wait_for("shell% ");
    terminal.press(b"echo still $((40+2))\r");
    terminal.wait_for("still 42");
    terminal.press(b"fg\r");
    terminal.wait_for("> before");
    // The keeper shows the screen before the program is back, which takes Enter for Enter only then.
    terminal.press(b" and after");
    terminal.wait_for("> before and after");
    terminal.press(b"\r");
    eventually("the line is sent", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": "before and after" })]);
    terminal.press(b"\x04");
    terminal.wait_for("shell% ");
    terminal.press(b"exit\r");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_program_starts_anew_in_the_same_terminal() {
    let keeper = Keeper::scripted(&[], &json!({}));
    let mut terminal = keeper.attach();
    terminal.wait_for("> ");
    terminal.press(b"lost");
    terminal.wait_for("lost");
    let before = keeper.look()["pid"].clone();
    assert_eq!(keeper.home.run(&["run", "--restart", "tester"]).code, 0);
    eventually("another program runs", || {
        let seen = keeper.look();
        (seen["pid"] != before && seen["running"] == true).then_some(())
    });
    terminal.wait_for("> ");
    terminal.press(b"new\r");
    eventually("the line is sent", || (!keeper.transcript().is_empty()).then_some(()));
    assert_eq!(keeper.transcript(), [json!({ "line": "new" })]);
}

#[test]
fn who_comes_back_without_a_terminal_is_refused_and_the_program_goes_on() {
    let mut keeper = Keeper::of(&["/bin/cat"]);
    let ran = keeper.home.run(&["attach", "tester"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("run it in a terminal"), "{}", ran.stderr);
    let mut terminal = keeper.attach();
    terminal.press(b"still here\r");
    terminal.wait_for("still here\r\nstill here");
    assert!(keeper.is_alive());
}

#[test]
fn the_agent_gets_an_identity_and_nobody_else_sees_its_token() {
    let print = "env | grep ^WAYSTATION | sort; echo all; cat; :";
    let keeper = Keeper::of(&["/bin/sh", "-c", print]);
    let mut terminal = keeper.attach();
    let printed = terminal.wait_for("all").replace('\r', "");
    let token = keeper.folder.join("token");
    let expected = format!(
        "WAYSTATION_AGENT=tester\nWAYSTATION_DATA={}\nWAYSTATION_SESSION=sess_test\n\
         WAYSTATION_TOKEN=a-secret-token\nWAYSTATION_TOKEN_FILE={}\nall",
        keeper.home.data().display(),
        token.display()
    );
    assert!(printed.ends_with(&expected), "{printed}");
    assert_eq!(std::fs::read_to_string(token).unwrap(), "a-secret-token");
    let listed = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("a-secret-token"));
    assert!(!keeper.log().contains("a-secret-token"));
}
