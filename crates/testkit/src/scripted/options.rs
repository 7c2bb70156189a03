//! How a scripted program behaves.

use std::path::PathBuf;
use std::time::Duration;

/// How a scripted program behaves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where what it was told is written, a line of JSON each.
    pub transcript: Option<PathBuf>,
    /// Where every byte it read is written.
    pub keys: Option<PathBuf>,
    /// Whether it asks for pastes to be marked.
    pub marks_pastes: bool,
    /// After so many turns it asks something.
    pub dialog_every: u32,
    /// How long a turn takes.
    pub turn: Duration,
    /// How long drawing the screen takes.
    pub slow: Duration,
    /// An Enter that comes so soon after a letter is a part of the line.
    pub burst: Duration,
    /// What it ends with.
    pub exit_code: u8,
}

impl Options {
    /// Reads the words of the command line.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((&word, ""));
            let number = || value.parse::<u32>().map_err(|_| format!("{word}: not a number"));
            let millis = || number().map(|ms| Duration::from_millis(u64::from(ms)));
            match name {
                "--transcript" => options.transcript = Some(value.into()),
                "--keys" => options.keys = Some(value.into()),
                "--paste" => options.marks_pastes = true,
                "--dialog-every" => options.dialog_every = number()?,
                "--turn-ms" => options.turn = millis()?,
                "--slow-ms" => options.slow = millis()?,
                "--burst-ms" => options.burst = millis()?,
                "--exit-code" => options.exit_code = u8::try_from(number()?).unwrap_or(1),
                _ => return Err(format!("{word}: unknown")),
            }
        }
        Ok(options)
    }
}
