//! The trail as text: to stdout, or to a file that is there whole or not at all.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hub::audit;
use serde_json::Value;

use crate::commands::target::{self, Draft};
use crate::paths::Place;
use crate::{output, owner};

/// The first line of an export is not longer: a seal's leaves are in it.
const FIRST_LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Writes the entries from one number to another, as far as they are named.
pub(super) async fn run(
    place: &Place,
    range: (Option<i64>, Option<i64>),
    out: Option<&Path>,
) -> Result<()> {
    let Some(path) = out else {
        return write(place, range, std::io::stdout().lock()).await;
    };
    let failed = || format!("cannot write {}", path.display());
    // A pipe or a device holds nothing that could be lost, and cannot be renamed.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return write(place, range, File::options().write(true).open(path).with_context(failed)?)
            .await;
    }
    target::check(place, path, &target::Written { what: "export", is_one: is_export })?;
    let draft = Draft::beside(path).with_context(failed)?;
    tokio::select! {
        written = write(place, range, draft.file()) => written?,
        () = owner::asked_to_stop() => bail!("{} was not written: it was called off", path.display()),
    }
    draft.put_in_place().with_context(failed)
}

async fn write(
    place: &Place,
    (from, to): (Option<i64>, Option<i64>),
    out: impl Write,
) -> Result<()> {
    let store = super::open(place).await?;
    let mut out = Escaping { out: BufWriter::new(out), line: Vec::new() };
    audit::export(&store, from, to, &mut out).await?;
    Ok(out.flush()?)
}

/// Whether a file begins as an export does.
fn is_export(file: &Path) -> bool {
    let Ok(file) = File::open(file) else { return false };
    let mut first = Vec::new();
    let read = BufReader::new(file.take(FIRST_LINE_BYTES_MAX)).read_until(b'\n', &mut first);
    let line: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&first).ok());
    let kind = line.as_ref().and_then(|line| line.get("type")).and_then(Value::as_str);
    matches!(kind, Some("entry" | "seal"))
}

/// Lines of JSON on their way to where a terminal may show them: what others wrote stands in them.
struct Escaping<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.write_all(output::escaped(&line).as_bytes())?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
