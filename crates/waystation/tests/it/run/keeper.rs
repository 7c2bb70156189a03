//! A keeper with a scripted program, without a hub: the terminal does not depend on one.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::terminal::{Terminal, eventually};
use crate::program::Home;

/// A session's keeper.
pub(super) struct Keeper {
    pub(super) home: Home,
    pub(super) folder: PathBuf,
    process: Child,
}

/// A shell whose prompt is the same for everybody.
pub(super) const SHELL: [&str; 5] = ["/usr/bin/env", "PS1=shell% ", "/bin/bash", "--norc", "-i"];

/// How patient a keeper is in tests that take many turns.
pub(super) fn hasty() -> Value {
    let millis = |ms: u32| json!({ "secs": 0, "nanos": ms * 1_000_000 });
    json!({ "still": millis(60), "enter_after": millis(40), "echo_still": millis(15) })
}

impl Keeper {
    /// A keeper of this command.
    pub(super) fn of(command: &[&str]) -> Self {
        Self::start(Home::new(), command, &json!({}))
    }

    /// A keeper of a scripted program with these options.
    pub(super) fn scripted(options: &[&str], more: &Value) -> Self {
        let home = Home::new();
        let program = testkit::scripted::program();
        let transcript = format!("--transcript={}", home.path().join("transcript").display());
        let keys = format!("--keys={}", home.path().join("keys").display());
        let mut command = vec![program.to_str().unwrap(), &transcript, &keys];
        command.extend(options);
        Self::start(home, &command, more)
    }

    fn start(home: Home, command: &[&str], more: &Value) -> Self {
        let folder = home.data().join("run").join("sess_test");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        let mut handoff = json!({
            "session_id": "sess_test", "agent": "tester", "workspace": "default",
            "runtime": "scripted", "role": "worker", "host": "host_test", "token": "a-secret-token",
            "program": command[0], "args": &command[1..], "cwd": home.path(), "headless": false,
        });
        handoff.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let log = std::fs::File::create(folder.join("keeper.log")).unwrap();
        let mut process = home.command(&["keeper"]);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = process.spawn().unwrap();
        let mut pipe = process.stdin.take().unwrap();
        pipe.write_all(handoff.to_string().as_bytes()).unwrap();
        drop(pipe);
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n", "{}", log_of(&folder));
        Self { home, folder, process }
    }

    /// A person who watches.
    pub(super) fn attach(&self) -> Terminal {
        Terminal::open(&self.attach_command())
    }

    pub(super) fn attach_command(&self) -> Command {
        self.home.command(&["attach", "tester"])
    }

    /// Asks the keeper something.
    pub(super) fn ask(&self, request: &Value) -> Value {
        ask(&self.folder.join("keeper.sock"), request)
    }

    /// What it sees.
    pub(super) fn look(&self) -> Value {
        self.ask(&json!({ "look": {} }))["seen"].clone()
    }

    /// Asks it to type the notice of a wake, with nobody having to be quiet for long.
    pub(super) fn wake(&self, wake: &str) -> Value {
        self.ask(&json!({ "type": { "wake_id": wake, "typed": notice(wake), "quiet_ms": 0 } }))
    }

    /// Asks until it was typed.
    pub(super) fn insist(&self, wake: &str) {
        eventually("the notice is typed", || (self.wake(wake) == "done").then_some(()));
    }

    /// What the program was told, in order.
    pub(super) fn transcript(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.path().join("transcript")).unwrap_or_default();
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Every byte the program read.
    pub(super) fn keys(&self) -> Vec<u8> {
        std::fs::read(self.home.path().join("keys")).unwrap_or_default()
    }

    pub(super) fn log(&self) -> String {
        log_of(&self.folder)
    }

    /// Waits until the keeper has ended.
    pub(super) fn wait(mut self) -> i32 {
        let process = &mut self.process;
        eventually("the keeper ends", || process.try_wait().unwrap()).code().unwrap_or(-1)
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Asks the keeper behind a socket something.
pub(crate) fn ask(socket: &Path, request: &Value) -> Value {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// A notice as the hub writes it.
pub(super) fn notice(wake: &str) -> String {
    format!("[waystation wake {wake}] Thread th_1 has 2 unread message(s) for you (agent tester).")
}

fn log_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("keeper.log")).unwrap_or_default()
}
