//! Tables for people: as wide as the terminal, whatever somebody put into the cells.

use crate::output;
use crate::paint::Paint;

/// Between two columns.
const GAP: &str = "  ";
/// A column is not made narrower than this.
const COLUMN_MIN: usize = 6;

/// How a cell is to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// It is well.
    Good,
    /// It needs a look.
    Warning,
    /// It is wrong.
    Bad,
    /// It matters less.
    Quiet,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Text from anywhere: one line, and harmless.
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { text: output::safe(&line), tone }
    }

    /// The same, as it is.
    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// A table with a head.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table in lines that are not wider than this.
    pub(crate) fn lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let widths = self.widths(width);
        let head: Vec<(String, Tone)> =
            self.head.iter().map(|title| (title.to_uppercase(), Tone::Quiet)).collect();
        let mut lines = vec![line(&head, &widths, paint)];
        for row in &self.rows {
            let cells: Vec<(String, Tone)> =
                row.iter().map(|cell| (cell.text.clone(), cell.tone)).collect();
            lines.push(line(&cells, &widths, paint));
        }
        lines
    }

    /// As wide as its widest cell, and narrower where the whole would not fit: the widest give first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|title| display_width(title)).collect();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                if let Some(column) = widths.get_mut(index) {
                    *column = (*column).max(display_width(&cell.text));
                }
            }
        }
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > COLUMN_MIN)
            else {
                break;
            };
            *widest -= 1;
        }
        widths
    }
}

fn line(cells: &[(String, Tone)], widths: &[usize], paint: Paint) -> String {
    let last = cells.len().saturating_sub(1);
    let cells = cells.iter().zip(widths).enumerate().map(|(index, ((text, tone), width))| {
        let text = shortened(text, *width);
        let room = if index == last { 0 } else { width.saturating_sub(display_width(&text)) };
        let painted = match tone {
            Tone::Plain => text,
            Tone::Good => paint.good(&text),
            Tone::Warning => paint.warning(&text),
            Tone::Bad => paint.bad(&text),
            Tone::Quiet => paint.quiet(&text),
        };
        format!("{painted}{}", " ".repeat(room))
    });
    cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

/// A text that is not wider than this; what is cut off leaves a sign.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let needed = char_width(*c);
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}

fn display_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// How many columns a terminal gives a character: good enough for names and paths.
fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200d | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1_f300..=0x1_faff
        | 0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&["agent", "status", "where"]);
        table.push(vec![
            Cell::plain("coder"),
            Cell::new("idle", Tone::Good),
            Cell::plain("/home/somebody/a/very/long/path/to/some/project"),
        ]);
        table.push(vec![
            Cell::plain("会議の人"),
            Cell::plain("gone\nfor\x1b[2J good"),
            Cell::plain("-"),
        ]);
        table
    }

    #[test]
    fn a_table_is_as_wide_as_it_may_be() {
        insta::assert_snapshot!(sample().lines(100, Paint::plain()).join("\n"), @r"
        AGENT     STATUS             WHERE
        coder     idle               /home/somebody/a/very/long/path/to/some/project
        会議の人  gone for�[2J good  -
        ");
        insta::assert_snapshot!(sample().lines(40, Paint::plain()).join("\n"), @r"
        AGENT     STATUS          WHERE
        coder     idle            /home/somebod…
        会議の人  gone for�[2J …  -
        ");
        for width in 0..120 {
            let lines = sample().lines(width, Paint::plain());
            let widest = lines.iter().map(|line| display_width(line)).max().unwrap();
            assert!(widest <= width.max(22), "{width}: {lines:?}");
        }
    }
}
