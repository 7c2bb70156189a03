//! The picture that moves: one SVG file that needs nothing beside it.
//!
//! Rows and sights of terminals are drawn once and used wherever they are seen again. All pictures stand
//! side by side, and the one to be seen is moved into view.

use std::collections::HashMap;
use std::fmt::Write;

use super::colour::{BACKGROUND, FOREGROUND, Rgb};
use super::film::Film;
use super::row::{Look, Row, Run};

/// How wide a column is.
const COLUMN: f64 = 8.4;
/// How high a row is.
const LINE: usize = 18;
/// Where letters stand in their row.
const BASE: usize = 13;
/// Around everything.
const EDGE: usize = 12;
/// Text is held to its width from so many letters on: fonts differ a little.
const HELD_CHARS_MIN: usize = 3;

/// The whole file.
pub(crate) fn picture(film: &Film) -> String {
    let mut drawing = Drawing::default();
    drawing.sights(film);
    let (rows, cols) = film.size;
    let inner = (whole(width(cols)), rows * LINE);
    let (wide, high) = (inner.0 + 2 * EDGE, inner.1 + 2 * EDGE);
    let step = wide;
    let mut frames = String::new();
    for (number, frame) in film.frames.iter().enumerate() {
        let uses: String =
            frame.sights.iter().map(|(sight, top)| used("s", *sight, top * LINE)).collect();
        let x = number * step;
        frames.push_str(&format_args!("<g transform=\"translate({x})\">{uses}</g>\n").to_string());
    }
    let last = film.frames.len().saturating_sub(1) * step;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" \
         height=\"{high}\" role=\"img\"><title>{title}</title>\n<style>\n\
         text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;\
         fill:{front}}}\n{looks}\
         #film{{animation:film {length:.2}s steps(1,end) infinite}}\n\
         @keyframes film{{{keys}}}\n\
         @media (prefers-reduced-motion:reduce){{#film{{animation:none;transform:translateX(-{last}px)}}}}\n\
         </style>\n<defs>\n{defined}</defs>\n\
         <rect width=\"{wide}\" height=\"{high}\" rx=\"8\" fill=\"{back}\"/>\n\
         <svg x=\"{EDGE}\" y=\"{EDGE}\" width=\"{}\" height=\"{}\"><g id=\"film\">\n{frames}</g></svg>\n</svg>\n",
        inner.0,
        inner.1,
        title = escaped(&film.title),
        front = hex(FOREGROUND),
        back = hex(BACKGROUND),
        looks = drawing.style(),
        length = film.length,
        keys = keys(film, step),
        defined = drawing.defined,
    )
}

/// When which picture is in view.
fn keys(film: &Film, step: usize) -> String {
    let key = |(number, at): (usize, f64)| {
        let share = at / film.length * 100.0;
        format!("{share:.3}%{{transform:translateX(-{}px)}}", number * step)
    };
    let times = film.frames.iter().map(|frame| frame.at).enumerate();
    let last = film.frames.len().saturating_sub(1);
    times.chain([(last, film.length)]).map(key).collect()
}

#[derive(Default)]
struct Drawing {
    defined: String,
    rows: HashMap<Row, usize>,
    looks: HashMap<Look, usize>,
}

impl Drawing {
    /// Draws every sight once.
    fn sights(&mut self, film: &Film) {
        for (number, sight) in film.sights.iter().enumerate() {
            let mut uses = String::new();
            for (place, row) in sight.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
                let row = self.row(row);
                uses.push_str(&used("r", row, place * LINE));
            }
            self.define("s", number, &uses);
        }
    }

    fn row(&mut self, row: &Row) -> usize {
        if let Some(known) = self.rows.get(row) {
            return *known;
        }
        let number = self.rows.len();
        let (mut behind, mut text) = (String::new(), String::new());
        for run in row {
            let (x, wide) = (width(run.column), width(run.width));
            if let Some(back) = run.look.back {
                let rect = format!(
                    "<rect x=\"{x:.1}\" width=\"{wide:.1}\" height=\"{LINE}\" fill=\"{}\"/>",
                    hex(back)
                );
                behind.push_str(&rect);
            }
            let look = self.look(run.look);
            for (column, words) in words(run) {
                let (x, wide) = (width(column), width(words.chars().count()));
                let is_held = words.chars().count() >= HELD_CHARS_MIN;
                let held =
                    if is_held { format!(" textLength=\"{wide:.1}\"") } else { String::new() };
                let words = escaped(&words);
                let drawn = format!("<text x=\"{x:.1}\" y=\"{BASE}\"{look}{held}>{words}</text>");
                text.push_str(&drawn);
            }
        }
        self.rows.insert(row.clone(), number);
        self.define("r", number, &(behind + &text));
        number
    }

    /// The class of a look, as an attribute.
    fn look(&mut self, look: Look) -> String {
        let look = Look { back: None, ..look };
        if look == Look::default() {
            return String::new();
        }
        let next = self.looks.len();
        format!(" class=\"c{}\"", self.looks.entry(look).or_insert(next))
    }

    fn style(&self) -> String {
        let mut looks: Vec<(&Look, &usize)> = self.looks.iter().collect();
        looks.sort_by_key(|(_, number)| **number);
        let rule = |(look, number): (&Look, &usize)| {
            let mut rule =
                look.front.map_or_else(String::new, |front| format!("fill:{};", hex(front)));
            for (is_so, words) in [
                (look.is_bold, "font-weight:700;"),
                (look.is_italic, "font-style:italic;"),
                (look.is_underlined, "text-decoration:underline;"),
            ] {
                rule.push_str(if is_so { words } else { "" });
            }
            format!(".c{number}{{{rule}}}\n")
        };
        looks.into_iter().map(rule).collect()
    }

    fn define(&mut self, kind: &str, number: usize, drawn: &str) {
        let defined = writeln!(self.defined, "<g id=\"{kind}{number}\">{drawn}</g>");
        defined.expect("writing to memory cannot fail");
    }
}

/// The words of a run and where they begin. Where there is more than one blank, they stand apart: not
/// everything that draws pictures keeps blanks.
fn words(run: &Run) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut blanks = 0;
    for (place, letter) in run.text.chars().enumerate() {
        if letter == ' ' {
            blanks += 1;
            continue;
        }
        match words.last_mut().filter(|_| blanks < 2) {
            Some((_, word)) => {
                word.push_str(if blanks == 1 { " " } else { "" });
                word.push(letter);
            }
            None => words.push((run.column + place, letter.to_string())),
        }
        blanks = 0;
    }
    words
}

fn used(kind: &str, number: usize, y: usize) -> String {
    match y {
        0 => format!("<use href=\"#{kind}{number}\"/>"),
        y => format!("<use href=\"#{kind}{number}\" y=\"{y}\"/>"),
    }
}

fn width(columns: usize) -> f64 {
    f64::from(u32::try_from(columns).unwrap_or(u32::MAX)) * COLUMN
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width is small and positive"
)]
fn whole(length: f64) -> usize {
    length.ceil() as usize
}

fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::film::Frame;
    use super::*;

    #[test]
    fn blanks_are_places_and_not_letters() {
        let run =
            Run { column: 3, width: 12, text: "  a b   c d ".to_owned(), look: Look::default() };
        assert_eq!(words(&run), [(5, "a b".to_owned()), (11, "c d".to_owned())]);
    }

    #[test]
    fn a_picture_needs_nothing_beside_it_and_draws_everything_once() {
        let look = Look { front: Some((1, 2, 3)), is_bold: true, ..Look::default() };
        let row = vec![Run { column: 2, width: 5, text: "<a&b>".to_owned(), look }];
        let film = Film {
            title: "a <story>".to_owned(),
            size: (2, 10),
            sights: vec![vec![row.clone(), row]],
            frames: vec![
                Frame { at: 0.0, sights: vec![(0, 0)] },
                Frame { at: 1.0, sights: vec![] },
            ],
            typed: Vec::new(),
            length: 4.0,
        };
        let picture = picture(&film);
        assert_eq!(picture.matches("&lt;a&amp;b&gt;").count(), 1);
        assert_eq!(picture.matches("href=\"#r0\"").count(), 2);
        assert!(picture.contains("25.000%{transform:translateX(-108px)}"), "{picture}");
        assert!(
            !picture.contains("http://") || picture.matches("http").count() == 1,
            "only its name"
        );
        assert!(picture.contains(".c0{fill:#010203;font-weight:700;}"));
    }
}
