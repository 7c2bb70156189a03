//! The command lines by which agents' programs call this one.

use std::path::{Path, PathBuf};

use crate::paths::Place;
use crate::surroundings;

/// How this program is called, and for which agent.
#[derive(Clone, Debug)]
pub(super) struct Station {
    /// This program's file.
    pub(super) program: PathBuf,
    /// The agent.
    pub(super) agent: String,
    /// The data folder, where it is not the usual one.
    pub(super) data: Option<PathBuf>,
    /// The configuration file, where it is not the folder's own.
    pub(super) config: Option<PathBuf>,
}

impl Station {
    /// This program, called for an agent with the folder and the configuration of a place.
    pub(super) fn new(place: &Place, program: PathBuf, agent: String) -> Self {
        let usual = surroundings::home().map(|home| home.join(".waystation"));
        let data = Some(&place.folder).filter(|folder| usual.as_ref() != Some(folder)).cloned();
        Self { program, agent, data, config: place.config_file.clone() }
    }

    /// The program as text.
    pub(super) fn program(&self) -> String {
        self.program.display().to_string()
    }

    /// What follows the program: the command, whom it is for, and where.
    pub(super) fn args(&self, command: &[&str]) -> Vec<String> {
        let mut args: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        args.extend(["--as".to_owned(), self.agent.clone()]);
        for (option, path) in [("--data", &self.data), ("--config", &self.config)] {
            if let Some(path) = path {
                args.extend([option.to_owned(), path.display().to_string()]);
            }
        }
        args
    }

    /// The whole as a line for a shell, which is what hooks are.
    pub(super) fn line(&self, command: &[&str]) -> String {
        let words = std::iter::once(self.program()).chain(self.args(command));
        words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word that a shell reads as it is.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a file is this program, wherever it stood when it was written down.
pub(super) fn is_our_program(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == "waystation")
}

/// Whether a hook's line calls this program as `connect` writes it.
pub(super) fn is_our_line(line: &str) -> bool {
    let (program, rest) = match line.strip_prefix('\'') {
        Some(quoted) => quoted.split_once("' ").unwrap_or((quoted, "")),
        None => line.split_once(' ').unwrap_or((line, "")),
    };
    is_our_program(program) && matches!(rest.split(' ').next(), Some("hook" | "wait"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_lines_are_known_again_wherever_the_program_stands() {
        for program in ["/usr/bin/waystation", "/home/a b/it's/waystation"] {
            let station = Station {
                program: PathBuf::from(program),
                agent: "coder".to_owned(),
                data: Some(PathBuf::from("/data of mine")),
                config: Some(PathBuf::from("/ws.toml")),
            };
            let line = station.line(&["hook", "claude"]);
            assert!(is_our_line(&line), "{line}");
            let place = "--data '/data of mine' --config /ws.toml";
            assert!(line.ends_with(&format!("hook claude --as coder {place}")), "{line}");
        }
        assert!(is_our_line("waystation wait --as x"));
        for other in ["waystation post th_1 hi", "echo waystation hook", "mywaystation hook", ""] {
            assert!(!is_our_line(other), "{other}");
        }
    }
}
