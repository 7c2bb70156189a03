//! Programs that answer like agents' programs do when they are asked who they are.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{Home, Ran};

/// A home whose search path holds these programs and nothing of the machine's own agents.
pub(crate) struct Desk {
    pub(crate) home: Home,
}

impl Desk {
    /// A home with both programs.
    pub(crate) fn new() -> Self {
        let desk = Self::bare();
        desk.install("codex", "echo codex-cli 0.166.0");
        desk.install("claude", "echo '2.1.325 (Claude Code)'");
        desk
    }

    /// A home without either.
    pub(crate) fn bare() -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        Self { home }
    }

    /// Puts a program there, as a shell script.
    pub(crate) fn install(&self, name: &str, script: &str) {
        let file = self.path(&format!("bin/{name}"));
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// A file in the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What a file holds.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Puts a file there.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A command that finds only these programs.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("PATH", format!("{}:/bin:/usr/bin", self.path("bin").display()));
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Text without what differs from machine to machine.
    pub(crate) fn cleaned(&self, text: &str) -> String {
        text.replace(crate::program::PROGRAM, "/bin/waystation")
            .replace(&self.home.path().display().to_string(), "~")
    }
}

/// A command at a terminal of its own.
pub(crate) struct AtTerminal {
    child: std::process::Child,
    terminal: std::fs::File,
    /// Everything it printed so far.
    pub(crate) shown: String,
}

impl AtTerminal {
    /// Starts a command; what is typed waits until it asks.
    pub(crate) fn start(command: Command, typed: &str) -> Self {
        Self::start_as(command, typed, &[])
    }

    /// The same at a terminal that says more of itself.
    pub(crate) fn start_as(mut command: Command, typed: &str, more: &[(&str, &str)]) -> Self {
        use rustix::pty::OpenptFlags;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = rustix::pty::openpt(flags).unwrap();
        rustix::pty::unlockpt(&terminal).unwrap();
        let inside = rustix::pty::ioctl_tiocgptpeer(&terminal, flags).unwrap();
        rustix::io::write(&terminal, typed.as_bytes()).unwrap();
        command.env("TERM", "xterm-256color").envs(more.iter().copied());
        command.stdin(inside.try_clone().unwrap()).stdout(inside.try_clone().unwrap());
        let child = command.stderr(inside).spawn().unwrap();
        Self { child, terminal: terminal.into(), shown: String::new() }
    }

    /// Reads until this is shown.
    pub(crate) fn until(&mut self, words: &str) {
        while !self.shown.contains(words) {
            assert!(self.read(), "{words:?} was never shown: {}", self.shown);
        }
    }

    /// Interrupts it.
    pub(crate) fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// Reads to the end, and answers the exit code.
    pub(crate) fn end(&mut self) -> i32 {
        while self.read() {}
        self.child.wait().unwrap().code().unwrap_or(-1)
    }

    /// Reads a little; `false` when nobody is left who could write.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4_096];
        let count = std::io::Read::read(&mut self.terminal, &mut buffer).unwrap_or(0);
        self.shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        count > 0
    }
}
