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

/// What becomes of a column where the whole does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is made narrower.
    Cut,
    /// It stays as it is: somebody copies from it.
    Keep,
    /// It is left out, the last such first.
    Drop,
}

/// A table with a head.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    head: Vec<(&'static str, Fit)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(head: &[(&'static str, Fit)]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table in lines that are not wider than this.
    pub(crate) fn lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let mut shown = self.clone();
        while shown.narrowest() > width {
            let Some(index) = shown.head.iter().rposition(|(_, fit)| *fit == Fit::Drop) else {
                break;
            };
            shown.drop_column(index);
        }
        shown.drawn(width, paint)
    }

    fn drawn(&self, width: usize, paint: Paint) -> Vec<String> {
        let widths = self.widths(width);
        let head: Vec<(String, Tone)> =
            self.head.iter().map(|(title, _)| (title.to_uppercase(), Tone::Quiet)).collect();
        let mut lines = vec![line(&head, &widths, paint)];
        for row in &self.rows {
            let cells: Vec<(String, Tone)> =
                row.iter().map(|cell| (cell.text.clone(), cell.tone)).collect();
            lines.push(line(&cells, &widths, paint));
        }
        lines
    }

    fn drop_column(&mut self, index: usize) {
        self.head.remove(index);
        for row in self.rows.iter_mut().filter(|row| index < row.len()) {
            row.remove(index);
        }
    }

    /// As wide as each column's widest cell.
    fn natural(&self) -> Vec<usize> {
        let mut widths: Vec<usize> =
            self.head.iter().map(|(title, _)| display_width(title)).collect();
        for row in &self.rows {
            for (column, cell) in widths.iter_mut().zip(row) {
                *column = (*column).max(display_width(&cell.text));
            }
        }
        widths
    }

    /// How narrow the table can be made without leaving anything out.
    fn narrowest(&self) -> usize {
        let columns = self.natural().into_iter().zip(&self.head);
        let widths = columns.map(|(width, (_, fit))| match fit {
            Fit::Cut => width.min(COLUMN_MIN),
            Fit::Keep | Fit::Drop => width,
        });
        widths.sum::<usize>() + self.gaps()
    }

    fn gaps(&self) -> usize {
        GAP.len() * self.head.len().saturating_sub(1)
    }

    /// As wide as its widest cell, and narrower where the whole would not fit: the widest give first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths = self.natural();
        while widths.iter().sum::<usize>() + self.gaps() > width {
            let columns = widths.iter_mut().zip(&self.head);
            let cut = columns.filter(|(width, (_, fit))| *fit == Fit::Cut && **width > COLUMN_MIN);
            let Some((widest, _)) = cut.max_by_key(|(width, _)| **width) else { break };
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
        let mut table =
            Table::new(&[("agent", Fit::Keep), ("status", Fit::Cut), ("where", Fit::Cut)]);
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
    fn what_somebody_copies_is_never_cut() {
        let mut table = Table::new(&[("id", Fit::Keep), ("name", Fit::Cut), ("thread", Fit::Drop)]);
        let cells = ["wk_0123456789", "a rather long name", "th_0123456789"];
        table.push(cells.map(Cell::plain).to_vec());
        let at = |width| table.lines(width, Paint::plain()).last().cloned().unwrap();
        assert_eq!(at(60), "wk_0123456789  a rather long name  th_0123456789");
        assert_eq!(at(40), "wk_0123456789  a rather …  th_0123456789");
        assert_eq!(at(30), "wk_0123456789  a rather long …");
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
            assert!(widest <= width.max(24), "{width}: {lines:?}");
        }
    }
}
