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
