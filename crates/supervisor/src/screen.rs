//! The model of a terminal's screen: what a program shows, whether it asks something, and whether its
//! line looks empty.
//!
//! It may lag behind the program. What does not fit is skipped, and then nothing is known until the
//! program has painted its screen anew.

mod dialog;

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::limits::{
    DIALOG_ROWS, DRAW_BYTES, REPAINT_PATIENCE, UNDRAWN_BYTES_KEPT, UNDRAWN_BYTES_MAX,
};

/// What the line at the cursor looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing but a prompt stands before the cursor.
    Clear,
    /// Something stands before the cursor.
    Filled,
    /// There is no telling where the cursor is.
    Unclear,
}

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    Known,
    /// Something was skipped, and the program has not been asked to paint.
    Lost,
    /// It was asked then.
    Asked(Instant),
    /// It began to paint.
    Painting,
}

/// A screen's model.
pub struct Screen {
    parser: vt100::Parser,
    undrawn: Vec<u8>,
    drawn: usize,
    knowledge: Knowledge,
}

impl Screen {
    /// An empty screen.
    pub fn new(size: Size) -> Self {
        let parser = parser(size);
        Self { parser, undrawn: Vec::new(), drawn: 0, knowledge: Knowledge::Known }
    }

    /// Takes what a program printed, to be drawn when there is time.
    pub fn take(&mut self, bytes: &[u8]) {
        if let Knowledge::Asked(_) = self.knowledge {
            self.knowledge = Knowledge::Painting;
        }
        if self.undrawn.len() - self.drawn + bytes.len() <= UNDRAWN_BYTES_MAX {
            self.undrawn.extend_from_slice(bytes);
            return;
        }
        // The last of it shows where a program that only prints lines has come to.
        self.undrawn.extend_from_slice(bytes);
        let skipped = self.undrawn.len().saturating_sub(UNDRAWN_BYTES_KEPT);
        self.undrawn.drain(..skipped);
        self.drawn = 0;
        let (rows, cols) = self.parser.screen().size();
        self.parser = vt100::Parser::new(rows, cols, 0);
        self.knowledge = Knowledge::Lost;
    }

    /// Whether something waits to be drawn, and drawing it would tell something.
    pub fn wants_drawing(&self) -> bool {
        self.is_behind() && self.knowledge != Knowledge::Lost
    }

    fn is_behind(&self) -> bool {
        self.drawn < self.undrawn.len()
    }

    /// Draws a little.
    pub fn draw(&mut self) {
        let end = self.undrawn.len().min(self.drawn + DRAW_BYTES);
        let bytes = self.undrawn.get(self.drawn..end).unwrap_or_default();
        self.parser.process(bytes);
        self.drawn = end;
        if self.drawn == self.undrawn.len() {
            self.undrawn.clear();
            self.undrawn.shrink_to(UNDRAWN_BYTES_KEPT);
            self.drawn = 0;
        }
    }

    /// Draws all there is.
    pub fn draw_all(&mut self) {
        while self.is_behind() {
            self.draw();
        }
    }

    /// The window has another size now.
    pub fn resize(&mut self, size: Size) {
        self.draw_all();
        let (rows, cols) = nonzero(size);
        self.parser.set_size(rows, cols);
    }

    /// Whether the program has to be asked to paint its screen anew, which it is from now on.
    pub fn wants_repaint(&mut self, still_since: Instant, enough: Duration, now: Instant) -> bool {
        let still = now.saturating_duration_since(still_since);
        match self.knowledge {
            Knowledge::Lost if still >= enough => {
                self.knowledge = Knowledge::Asked(now);
                true
            }
            Knowledge::Asked(since) if now.saturating_duration_since(since) > REPAINT_PATIENCE => {
                // It does not paint, so it only prints lines; they tell when they filled the screen.
                self.draw_all();
                let rows = usize::from(self.parser.screen().size().0.get());
                let filled = self.rows().iter().filter(|row| !row.trim().is_empty()).count();
                if filled + 2 >= rows {
                    self.knowledge = Knowledge::Known;
                }
                false
            }
            Knowledge::Painting if still >= enough => {
                self.knowledge = Knowledge::Known;
                false
            }
            _ => false,
        }
    }

    /// Whether the model shows what the terminal shows.
    pub fn is_known(&self) -> bool {
        self.knowledge == Knowledge::Known
    }

    /// Whether the program asks its human something.
    pub fn shows_dialog(&self) -> bool {
        let rows = self.rows();
        let filled = rows.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |at| at + 1);
        let from = filled.saturating_sub(DIALOG_ROWS);
        dialog::is_among(rows.get(from..filled).unwrap_or_default())
    }

    /// What the line at the cursor looks like.
    pub fn line(&self) -> Line {
        let screen = self.parser.screen();
        let (row, column) = if screen.hide_cursor() {
            let Some(drawn) = self.drawn_cursor() else { return Line::Unclear };
            drawn
        } else {
            screen.cursor_position()
        };
        let left = screen.rows(0, column).nth(usize::from(row)).unwrap_or_default();
        if dialog::is_prompt(&left) { Line::Clear } else { Line::Filled }
    }

    /// What paints this screen on another terminal.
    pub fn painted(&mut self) -> Vec<u8> {
        self.draw_all();
        self.parser.screen().contents_formatted().into_bytes()
    }

    /// Its lines, as they stand.
    pub fn rows(&self) -> Vec<String> {
        let screen = self.parser.screen();
        screen.rows(0, screen.size().1.get()).collect()
    }

    /// The cursor that a program draws itself: the hidden one's cell if that is inverse, else the only
    /// inverse cell of a row, the lowest such.
    fn drawn_cursor(&self) -> Option<(u16, u16)> {
        let screen = self.parser.screen();
        let (rows, cols) = screen.size();
        let is_inverse =
            |row: u16, col: u16| screen.cell(row, col).is_some_and(vt100::Cell::inverse);
        let hidden = screen.cursor_position();
        if is_inverse(hidden.0, hidden.1) {
            return Some(hidden);
        }
        (0..rows.get()).rev().find_map(|row| {
            let mut inverse = (0..cols.get()).filter(|col| is_inverse(row, *col));
            match (inverse.next(), inverse.next()) {
                (Some(col), None) => Some((row, col)),
                _ => None,
            }
        })
    }
}

fn parser(size: Size) -> vt100::Parser {
    let (rows, cols) = nonzero(size);
    vt100::Parser::new(rows, cols, 0)
}

fn nonzero(size: Size) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |count: u16| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    (at_least_one(size.rows), at_least_one(size.cols))
}

#[cfg(test)]
mod tests;
