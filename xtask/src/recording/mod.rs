//! Recordings: what terminals showed, side by side, as an asciicast and as a picture that moves.
//!
//! A recorder writes down what each terminal printed and when, and which of them are in view. Nothing is
//! invented here: pauses become shorter, or long enough to read, and that is all.

mod cast;
mod colour;
mod film;
mod row;
mod story;
mod svg;

use std::path::Path;

use anyhow::{Context, ensure};

use self::film::Film;
use self::story::Story;

/// The largest picture that a page is asked to load.
const PICTURE_BYTES_MAX: usize = 500 * 1024;

/// Makes `NAME.cast` and `NAME.svg` of what was recorded.
pub(crate) fn make(recorded: &Path, name: &Path) -> anyhow::Result<()> {
    let text =
        std::fs::read(recorded).with_context(|| format!("cannot read {}", recorded.display()))?;
    let story = Story::read(&text)?;
    let film = Film::of(&story)?;
    let picture = svg::picture(&film);
    ensure!(picture.len() <= PICTURE_BYTES_MAX, "the picture has {} bytes", picture.len());
    write(&name.with_extension("cast"), &cast::text(&film)?)?;
    write(&name.with_extension("svg"), &picture)
}

/// Prints one moment of what was recorded, as text, to look at.
pub(crate) fn shown(recorded: &Path, second: f64) -> anyhow::Result<String> {
    let film = Film::of(&Story::read(&std::fs::read(recorded)?)?)?;
    let frame = film.frames.iter().rev().find(|frame| frame.at <= second);
    let rows = frame.map(|frame| film.rows(frame)).unwrap_or_default();
    Ok(rows.iter().map(row::plain).collect::<Vec<_>>().join("\n"))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
