//! The format as an importer.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use connector_api::{Detected, ImportError, ImportOptions, ImportSink, Importer, Probe};

use super::detect;
use super::outlet::Outlet;
use super::scanner::{Broken, Scanner};
use super::walk::Walk;

/// The file that Telegram Desktop writes.
pub(super) const FILE_NAME: &str = "result.json";

/// Reads what Telegram Desktop exports as JSON.
#[derive(Clone, Copy, Debug)]
pub struct TelegramExport;

impl Importer for TelegramExport {
    fn service(&self) -> &'static str {
        "telegram"
    }

    fn format(&self) -> &'static str {
        "Telegram Desktop export"
    }

    fn detect(&self, probe: &Probe<'_>) -> Option<Detected> {
        detect::detect(probe)
    }

    fn read(
        &self,
        path: &Path,
        options: &ImportOptions,
        sink: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let unreadable = |source| ImportError::Read { what: path.display().to_string(), source };
        let file = File::open(&path).map_err(unreadable)?;
        let bytes_total = file.metadata().map_err(unreadable)?.len();
        let outlet = Outlet::new(sink, options.messages_done, bytes_total);
        let mut walk = Walk::new(Scanner::new(file), outlet, options);
        match walk.all() {
            Ok(()) => Ok(()),
            Err(Broken::Stopped(error)) => Err(error),
            Err(Broken::Read(source)) => Err(unreadable(source)),
            Err(Broken::Ended) => Err(malformed(
                &path,
                bytes_total,
                "the file ends here, in the middle; everything before was taken. Export it again",
            )),
            Err(Broken::Wrong { at, expected }) => {
                let reason = format!("expected {expected}; everything before was taken");
                Err(malformed(&path, at, &reason))
            }
        }
    }
}

/// Names a place as people find it in an editor. Lines are counted only now, when somebody asks.
fn malformed(path: &PathBuf, at: u64, reason: &str) -> ImportError {
    let place = match place(path, at) {
        Some((line, column)) => format!("line {line}, column {column}"),
        None => format!("byte {at}"),
    };
    ImportError::Malformed { place, reason: reason.to_owned() }
}

fn place(path: &PathBuf, at: u64) -> Option<(u64, u64)> {
    let mut reader = BufReader::new(File::open(path).ok()?.take(at));
    let (mut line, mut column) = (1_u64, 1_u64);
    loop {
        let chunk = reader.fill_buf().ok()?;
        let bytes = chunk.len();
        if bytes == 0 {
            return Some((line, column));
        }
        let breaks = memchr::memchr_iter(b'\n', chunk).count() as u64;
        let tail = match memchr::memrchr(b'\n', chunk) {
            Some(last) => {
                column = 1;
                bytes - last - 1
            }
            None => bytes,
        };
        line += breaks;
        column += tail as u64;
        reader.consume(bytes);
    }
}
