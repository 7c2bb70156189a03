//! A recording, picture by picture.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU16;

use anyhow::Context;

use super::colour;
use super::row::{self, Look, Row, Run};
use super::story::{Event, Story};

/// Nothing happens for so long at most, in seconds.
const PAUSE_S_MAX: f64 = 1.0;
/// Pictures are at least so far apart: a program that draws sixty times a second is not followed.
const FRAME_S_MIN: f64 = 0.16;
/// How long the last picture stands.
const END_S: f64 = 6.0;

/// A recording, picture by picture.
pub(crate) struct Film {
    /// What it is called.
    pub(crate) title: String,
    /// Rows and columns.
    pub(crate) size: (usize, usize),
    /// What terminals showed, each sight once.
    pub(crate) sights: Vec<Vec<Row>>,
    /// The pictures, in order.
    pub(crate) frames: Vec<Frame>,
    /// When which command was typed.
    pub(crate) typed: Vec<(f64, String)>,
    /// How long it takes, in seconds.
    pub(crate) length: f64,
}

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// From when on it is seen, in seconds.
    pub(crate) at: f64,
    /// Which sights it shows, and in which row each begins.
    pub(crate) sights: Vec<(usize, usize)>,
}

/// The terminals while the story is told.
struct Stage<'a> {
    story: &'a Story,
    screens: BTreeMap<&'a str, vt100::Parser>,
    in_view: Vec<String>,
    known: HashMap<Vec<Row>, usize>,
    film: Film,
}

impl Film {
    /// Tells the story.
    pub(crate) fn of(story: &Story) -> anyhow::Result<Self> {
        let mut stage = Stage::new(story);
        let (mut now, mut last, mut hold) = (0.0_f64, None, 0.0_f64);
        for (at, event) in &story.events {
            let pause = last.map_or(0.0, |last: f64| (at - last).clamp(0.0, PAUSE_S_MAX));
            last = Some(*at);
            let pause = if pause > 0.0 { pause.max(std::mem::take(&mut hold)) } else { pause };
            if pause > 0.0 {
                stage.show(now);
            }
            now += pause;
            match event {
                Event::Hold(seconds) => hold = hold.max(*seconds),
                Event::Typed(command) => stage.film.typed.push((now, command.clone())),
                Event::InView(names) => stage.in_view.clone_from(names),
                Event::Printed { pane, bytes } => {
                    let screen = stage.screens.get_mut(pane.as_str());
                    screen.with_context(|| format!("there is no pane {pane}"))?.process(bytes);
                }
            }
        }
        stage.show(now);
        stage.film.length = now + END_S;
        Ok(stage.film)
    }

    /// All rows of a picture.
    pub(crate) fn rows(&self, frame: &Frame) -> Vec<Row> {
        let mut rows = vec![Row::new(); self.size.0];
        for (sight, top) in &frame.sights {
            let sight = self.sights.get(*sight).map(Vec::as_slice).unwrap_or_default();
            for (row, seen) in rows.iter_mut().skip(*top).zip(sight) {
                row.clone_from(seen);
            }
        }
        rows
    }
}

impl<'a> Stage<'a> {
    fn new(story: &'a Story) -> Self {
        let screen = |size: (u16, u16)| {
            let at_least_one = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
            vt100::Parser::new(at_least_one(size.0), at_least_one(size.1), 0)
        };
        let screens = story.panes.iter().map(|(name, pane)| (name.as_str(), screen(pane.size)));
        Self {
            screens: screens.collect(),
            in_view: Vec::new(),
            known: HashMap::new(),
            film: Film {
                title: story.title.clone(),
                size: story.size,
                sights: Vec::new(),
                frames: Vec::new(),
                typed: Vec::new(),
                length: 0.0,
            },
            story,
        }
    }

    /// Takes a picture, in place of the one before where that was seen for a moment only.
    fn show(&mut self, now: f64) {
        let mut sights = Vec::new();
        let mut top = 0;
        for name in std::mem::take(&mut self.in_view) {
            let sight = self.sight(&name);
            let rows = sight.len();
            let number = *self.known.entry(sight.clone()).or_insert_with(|| {
                self.film.sights.push(sight);
                self.film.sights.len() - 1
            });
            sights.push((number, top));
            top += rows;
            self.in_view.push(name);
        }
        let frames = &mut self.film.frames;
        let is_same = frames.last().is_some_and(|last| last.sights == sights);
        if is_same {
            return;
        }
        match frames.last_mut().filter(|last| now - last.at < FRAME_S_MIN) {
            Some(last) => last.sights = sights,
            None => frames.push(Frame { at: now, sights }),
        }
    }

    /// A terminal below its name.
    fn sight(&self, name: &str) -> Vec<Row> {
        let title = self.story.panes.get(name).map(|pane| pane.title.as_str()).unwrap_or_default();
        let width = self.story.size.1;
        let look = Look { back: Some(colour::TITLE_BACKGROUND), ..Look::default() };
        let text = format!(" {title:<rest$}", rest = width.saturating_sub(1));
        let mut rows = vec![vec![Run { column: 0, width, text, look }]];
        if let Some(screen) = self.screens.get(name) {
            rows.extend(row::of_screen(screen.screen()));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn film(events: &serde_json::Value) -> Film {
        let story = json!({
            "title": "a story", "size": [4, 10],
            "panes": { "a": { "title": "one", "size": [1, 10] }, "b": { "title": "two", "size": [1, 10] } },
            "events": events,
        });
        Film::of(&Story::read(story.to_string().as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn pauses_are_short_and_what_is_to_be_read_stands_long_enough() {
        let film = film(&json!([
            { "at": 1.0, "in_view": ["a"] },
            { "at": 1.0, "pane": "a", "printed": "x" },
            { "at": 100.0, "typed": "a command" },
            { "at": 100.0, "pane": "a", "printed": "y" },
            { "at": 100.1, "pane": "a", "printed": "z" },
            { "at": 100.1, "hold": 3.0 },
            { "at": 200.0, "in_view": ["a", "b"] },
        ]));
        let at: Vec<String> = film.frames.iter().map(|frame| format!("{:.1}", frame.at)).collect();
        assert_eq!(at, ["0.0", "1.0", "4.1"]);
        assert_eq!(film.typed, [(1.0, "a command".to_owned())]);
        let rows = film.rows(&film.frames[2]);
        let rows: Vec<String> =
            rows.iter().map(|row| row::plain(row).trim_end().to_owned()).collect();
        assert_eq!(rows[0], " one");
        assert_eq!(&rows[1][..3], "xyz");
        assert_eq!(rows[2], " two");
        assert_eq!(film.sights.len(), 4, "each sight is kept once");
    }
}
