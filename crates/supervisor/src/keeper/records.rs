//! What a keeper has handed to its program, on disk: it outlives the keeper.
//!
//! Before the first letter `begun ID` is written, before Enter `entering ID`, and `done ID` once the
//! program has taken it. So whoever finds no more than `begun` of a keeper that is gone knows that
//! nothing was sent: the letters went with the terminal. An Enter that nobody had read goes with it
//! too, so having pressed it proves nothing.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::limits::REMEMBERED_WAKES_MAX;

/// The file's name in a session's folder.
const NAME: &str = "wakes";

/// How far a notice has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Some of it was typed.
    Begun,
    /// All of it was typed, and Enter was about to be pressed, or waits to be read.
    Entering,
    /// The program has taken all of it.
    Done,
}

/// The notices of a session.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    known: HashMap<String, Typed>,
}

impl Records {
    /// Those in a session's folder.
    pub fn of(folder: &Path) -> Self {
        let path = folder.join(NAME);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let known = text.lines().filter_map(|line| {
            let (state, id) = line.split_once(' ')?;
            let state = match state {
                "begun" => Typed::Begun,
                "entering" => Typed::Entering,
                "done" => Typed::Done,
                _ => return None,
            };
            Some((id.to_owned(), state))
        });
        Self { known: known.collect(), path }
    }

    /// How far a notice has come; `None` when nothing of it was sent.
    pub fn get(&self, wake_id: &str) -> Option<Typed> {
        self.known.get(wake_id).copied()
    }

    /// Writes down how far a notice has come.
    pub(crate) fn write(&mut self, wake_id: &str, state: Typed) -> io::Result<()> {
        if self.known.len() >= REMEMBERED_WAKES_MAX {
            self.known.clear();
            std::fs::remove_file(&self.path)?;
        }
        let word = match state {
            Typed::Begun => "begun",
            Typed::Entering => "entering",
            Typed::Done => "done",
        };
        let mut file = File::options().create(true).append(true).mode(0o600).open(&self.path)?;
        file.write_all(format!("{word} {wake_id}\n").as_bytes())?;
        self.known.insert(wake_id.to_owned(), state);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_known_later() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = Records::of(folder.path());
        assert_eq!(records.get("wk_1"), None);
        records.write("wk_1", Typed::Begun).unwrap();
        records.write("wk_2", Typed::Begun).unwrap();
        records.write("wk_1", Typed::Entering).unwrap();
        assert_eq!(Records::of(folder.path()).get("wk_1"), Some(Typed::Entering));
        records.write("wk_1", Typed::Done).unwrap();
        let again = Records::of(folder.path());
        assert_eq!(again.get("wk_1"), Some(Typed::Done));
        assert_eq!(again.get("wk_2"), Some(Typed::Begun));
        assert_eq!(again.get("wk_3"), None);
    }
}
