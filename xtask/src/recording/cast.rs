//! The asciicast: a header, then what a terminal of that size would print, a line of JSON each.

use std::fmt::Write;

use serde_json::json;

use super::colour::Rgb;
use super::film::Film;
use super::row::{Look, Row};

/// The whole file, in version 2 of the format.
pub(crate) fn text(film: &Film) -> anyhow::Result<String> {
    let (height, width) = film.size;
    let header = json!({ "version": 2, "width": width, "height": height, "title": film.title });
    let mut text = format!("{header}\n");
    let mut before = vec![Row::new(); height];
    let mut typed = film.typed.iter().peekable();
    for (number, frame) in film.frames.iter().enumerate() {
        while let Some((at, command)) = typed.next_if(|(at, _)| *at <= frame.at) {
            writeln!(text, "{}", json!([rounded(*at), "m", command]))?;
        }
        let rows = film.rows(frame);
        let mut printed = String::new();
        if number == 0 {
            printed.push_str("\x1b[?25l\x1b[2J");
        }
        for (place, row) in rows.iter().enumerate() {
            if before.get(place) != Some(row) {
                write!(printed, "\x1b[{};1H{}\x1b[0m\x1b[K", place + 1, painted(row)?)?;
            }
        }
        before = rows;
        writeln!(text, "{}", json!([rounded(frame.at), "o", printed]))?;
    }
    writeln!(text, "{}", json!([rounded(film.length), "o", ""]))?;
    Ok(text)
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

fn painted(row: &Row) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut column = 0;
    for run in row {
        if run.column > column {
            write!(text, "\x1b[0m{}", " ".repeat(run.column - column))?;
        }
        write!(text, "{}{}", code(&run.look)?, run.text)?;
        column = run.column + run.width;
    }
    Ok(text)
}

fn code(look: &Look) -> anyhow::Result<String> {
    let mut code = "\x1b[0".to_owned();
    for (is_so, number) in [(look.is_bold, 1), (look.is_italic, 3), (look.is_underlined, 4)] {
        if is_so {
            write!(code, ";{number}")?;
        }
    }
    let coloured = |kind: u8, colour: Option<Rgb>| {
        colour.map_or_else(String::new, |(red, green, blue)| {
            format!(";{kind};2;{red};{green};{blue}")
        })
    };
    write!(code, "{}{}m", coloured(38, look.front), coloured(48, look.back))?;
    Ok(code)
}
