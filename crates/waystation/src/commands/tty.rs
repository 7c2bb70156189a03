//! The controlling terminal: the one place where a person is asked for what no program may answer.
//!
//! Never standard input, never an argument, never the environment: an agent gives those to whatever it
//! starts.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use protocol::{Secret, limits};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

const ENTER: [u8; 2] = [b'\r', b'\n'];
const BACKSPACE: [u8; 2] = [0x08, 0x7f];
const CONTROL_C: u8 = 0x03;
const CONTROL_D: u8 = 0x04;
const CONTROL_U: u8 = 0x15;

/// The controlling terminal of this command.
pub(crate) struct Tty {
    file: File,
}

impl Tty {
    /// Opens it.
    pub(crate) fn open() -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").context(
            "there is no terminal to ask on; type this at the prompt of a terminal of your own",
        )?;
        Ok(Self { file })
    }

    /// Says something on it.
    pub(crate) fn say(&mut self, text: &str) -> Result<()> {
        write!(self.file, "{text}").and_then(|()| self.file.flush()).context("the terminal is gone")
    }

    /// Asks for a secret, which is not shown.
    pub(crate) fn secret(&mut self, question: &str) -> Result<Secret<String>> {
        let typed = self.ask(question)?;
        self.say("\n")?;
        Ok(Secret::new(typed))
    }

    /// Asks a question; anything but yes is no.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N] "))?;
        let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        self.say(if is_yes { "yes\n" } else { "no\n" })?;
        Ok(is_yes)
    }

    /// Asks, and reads a line that is not shown. What was typed before the question is forgotten.
    fn ask(&self, question: &str) -> Result<String> {
        let _quiet = Quiet::begin(&self.file)?;
        let mut file = &self.file;
        write!(file, "{question}").and_then(|()| file.flush()).context("the terminal is gone")?;
        typed(&self.file)
    }
}

/// A terminal that shows nothing of what is typed, for as long as this lives.
struct Quiet<'a> {
    file: &'a File,
    before: Termios,
}

impl<'a> Quiet<'a> {
    fn begin(file: &'a File) -> Result<Self> {
        let before = tcgetattr(file).context("the terminal cannot be asked")?;
        let mut quiet = before.clone();
        // Without signals by key, because one would end us and leave the terminal quiet.
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(file, OptionalActions::Flush, &quiet).context("the terminal cannot be asked")?;
        Ok(Self { file, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // Of a secret that was pasted in several lines, the rest must not reach the shell.
        if let Err(error) = tcsetattr(self.file, OptionalActions::Flush, &self.before) {
            tracing::debug!(%error, "the terminal is gone");
        }
    }
}

/// What is typed up to the end of a line.
fn typed(mut file: &File) -> Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        if file.read(&mut byte).context("the terminal is gone")? == 0 {
            bail!("the terminal is gone");
        }
        let [key] = byte;
        match key {
            key if ENTER.contains(&key) => break,
            CONTROL_C | CONTROL_D => bail!("nothing was done"),
            CONTROL_U => line.clear(),
            key if BACKSPACE.contains(&key) => take_back(&mut line),
            key if line.len() < limits::links::LINK_SETTING_BYTES_MAX => line.push(key),
            _ => {}
        }
    }
    String::from_utf8(line).ok().context("what was typed is no UTF-8 text")
}

/// Takes the last character back, however many bytes it has.
fn take_back(line: &mut Vec<u8>) {
    while let Some(byte) = line.pop() {
        // The bytes of a character but for its first begin with the bits 10.
        if byte & 0xc0 != 0x80 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_taken_back_whole() {
        let mut line = "aö€".as_bytes().to_vec();
        take_back(&mut line);
        assert_eq!(line, "aö".as_bytes());
        take_back(&mut line);
        take_back(&mut line);
        take_back(&mut line);
        assert!(line.is_empty());
    }
}
