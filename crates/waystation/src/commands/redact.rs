//! `waystation redact`: what would be taken out of a text, shown without a hub.
//!
//! A file is read in parts that end where a line does, so its size does not matter. The exit code says
//! whether anything was found.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use protocol::redact::{Class, Counts, KnownNames, Redactor, TokenKey, whole_part};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;

use crate::cli::{Global, RedactArgs};
use crate::output;
use crate::paint::Paint;

/// What is read at once.
const PART_BYTES: usize = 256 * 1024;
/// A part without a line end, or with a key that does not end, is looked at when it is as long.
const PART_BYTES_MAX: usize = 1024 * 1024;
/// The exit code when something was found.
const FOUND: u8 = 10;

/// Shows a file without what would be taken out of it.
pub(crate) fn run(global: &Global, args: &RedactArgs) -> Result<ExitCode> {
    let names = match &args.names {
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read names from {}", path.display()))?,
        None => String::new(),
    };
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| anyhow::anyhow!("there is no randomness"))?;
    let names = KnownNames::new(names.lines().map(str::trim).filter(|name| !name.is_empty()));
    let redactor = Redactor::new(TokenKey::of_workspace(&key, "redact"), names);
    let mut from: Box<dyn Read> = if args.file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(&args.file);
        Box::new(file.with_context(|| format!("cannot open {}", args.file.display()))?)
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut show: Box<dyn Show> = if global.json {
        Box::new(Spans::default())
    } else {
        Box::new(Painted { paint: Paint::of_stdout() })
    };
    let counts = read(&mut *from, &redactor, &mut *show, &mut out);
    let counts = match counts {
        Ok(counts) => counts,
        // Whoever reads has had enough.
        Err(error) if is_broken_pipe(&error) => return Ok(ExitCode::SUCCESS),
        Err(error) => return Err(error),
    };
    if !global.json {
        output::note(&summary(&counts));
    }
    Ok(if counts.total() > 0 { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// How findings are shown.
trait Show {
    /// One part of the text, which begins at this byte of the whole.
    fn part(
        &mut self,
        redactor: &Redactor,
        text: &str,
        at: usize,
        out: &mut dyn Write,
    ) -> Result<Counts>;
    /// The end.
    fn end(&mut self, counts: &Counts, out: &mut dyn Write) -> Result<()>;
}

fn read(
    from: &mut dyn Read,
    redactor: &Redactor,
    show: &mut dyn Show,
    out: &mut dyn Write,
) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut held: Vec<u8> = Vec::with_capacity(2 * PART_BYTES);
    let mut at = 0;
    let mut part = vec![0; PART_BYTES];
    loop {
        let read = from.read(&mut part).context("cannot read")?;
        held.extend_from_slice(part.get(..read).unwrap_or_default());
        let is_over = read == 0;
        let whole = match whole_part(&held) {
            _ if is_over => held.len(),
            0 if held.len() >= PART_BYTES_MAX => last_boundary(&held),
            whole => whole,
        };
        if whole > 0 {
            let rest = held.split_off(whole);
            let text = printable(held);
            counts.add_all(&show.part(redactor, &text, at, out)?);
            at += whole;
            held = rest;
        }
        if is_over {
            show.end(&counts, out)?;
            out.flush()?;
            return Ok(counts);
        }
    }
}

/// The end of the last whole character.
fn last_boundary(bytes: &[u8]) -> usize {
    let end = bytes.len();
    (0..4)
        .map(|back| end.saturating_sub(back))
        .find(|place| {
            bytes.get(*place).is_none_or(|byte| byte & 0xc0 != 0x80)
                && std::str::from_utf8(
                    bytes.get(place.saturating_sub(4)..*place).unwrap_or_default(),
                )
                .is_ok()
        })
        .unwrap_or(end)
}

/// The bytes as text; what is no text becomes question marks, so that every place stays where it is.
fn printable(mut bytes: Vec<u8>) -> String {
    loop {
        match String::from_utf8(bytes) {
            Ok(text) => return text,
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let length = error.utf8_error().error_len().unwrap_or(1);
                bytes = error.into_bytes();
                if let Some(wrong) = bytes.get_mut(start..start + length) {
                    wrong.fill(b'?');
                }
            }
        }
    }
}

/// For people: the text, with a token in place of each finding.
struct Painted {
    paint: Paint,
}

impl Show for Painted {
    fn part(
        &mut self,
        redactor: &Redactor,
        text: &str,
        _: usize,
        out: &mut dyn Write,
    ) -> Result<Counts> {
        let redacted = redactor.redact(text);
        let mut rest = output::safe(&redacted.text);
        // Tokens stand between brackets that hardly anybody writes.
        while let Some(start) = rest.find('⟨') {
            let Some(length) = rest.get(start..).and_then(|rest| rest.find('⟩')) else { break };
            let end = start + length + '⟩'.len_utf8();
            let (head, tail) = rest.split_at(end);
            let (before, token) = head.split_at(start);
            write!(out, "{before}{}", self.paint.warning(token))?;
            rest = tail.to_owned();
        }
        write!(out, "{rest}")?;
        Ok(redacted.counts)
    }

    fn end(&mut self, _: &Counts, _: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// For scripts: one JSON object with every span, written as it is found. Values are not shown.
#[derive(Default)]
struct Spans {
    has_begun: bool,
}

impl Show for Spans {
    fn part(
        &mut self,
        redactor: &Redactor,
        text: &str,
        at: usize,
        out: &mut dyn Write,
    ) -> Result<Counts> {
        let mut counts = Counts::default();
        for span in redactor.find(text) {
            counts.add(span.class);
            let shown = json!({
                "start": at + span.start, "end": at + span.end, "class": span.class.name(),
                "kind": span.kind,
            });
            let before = if self.has_begun { ",\n  " } else { "{\"spans\": [\n  " };
            self.has_begun = true;
            write!(out, "{before}{shown}")?;
        }
        Ok(counts)
    }

    fn end(&mut self, counts: &Counts, out: &mut dyn Write) -> Result<()> {
        let counts: serde_json::Map<String, serde_json::Value> =
            counts.iter().map(|(class, count)| (class.name().to_owned(), count.into())).collect();
        let before = if self.has_begun { "\n" } else { "{\"spans\": [" };
        writeln!(out, "{before}], \"counts\": {}}}", json!(counts))?;
        Ok(())
    }
}

fn summary(counts: &Counts) -> String {
    if counts.total() == 0 {
        return "nothing would be taken out".to_owned();
    }
    let one = |(class, count): (Class, u64)| format!("{count} {class}");
    let all: Vec<String> = counts.iter().map(one).collect();
    format!("{} would be taken out: {}", counts.total(), all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], show: &mut dyn Show) -> (String, Counts) {
        let redactor = Redactor::new(TokenKey::of_workspace(b"k", "w"), KnownNames::default());
        let mut out = Vec::new();
        let counts = read(&mut &*text, &redactor, show, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), counts)
    }

    #[test]
    fn spans_are_counted_in_bytes_of_the_whole_file() {
        let mut text = "é line without anything\n".repeat(40_000).into_bytes();
        let start = text.len() + 3;
        text.extend_from_slice(b"\xff: bob@example.org\nend");
        let (json, counts) = shown(&text, &mut Spans::default());
        assert_eq!(counts.total(), 1);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["spans"][0]["start"], start);
        assert_eq!(json["spans"][0]["end"], start + "bob@example.org".len());
        assert_eq!(json["spans"][0]["class"], "email");
        assert_eq!(json["counts"], json!({ "email": 1 }));
        let (json, _) = shown(b"nothing", &mut Spans::default());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json, json!({ "spans": [], "counts": {} }));
    }

    #[test]
    fn people_see_the_text_with_tokens() {
        let (text, _) = shown(b"to bob@example.org\x1b[2J", &mut Painted { paint: Paint::plain() });
        assert!(text.starts_with("to ⟨email:") && !text.contains('\x1b'), "{text:?}");
    }

    #[test]
    fn a_long_line_is_looked_at_in_parts() {
        let text = "ä".repeat(PART_BYTES_MAX);
        let (out, counts) = shown(text.as_bytes(), &mut Painted { paint: Paint::plain() });
        assert_eq!((out.len(), counts.total()), (text.len(), 0));
    }
}
