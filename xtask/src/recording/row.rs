//! A row of a terminal: runs of text that look alike.

use super::colour::{self, Rgb};

/// How text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    /// Its colour; the usual one where there is none.
    pub(crate) front: Option<Rgb>,
    /// What lies behind it.
    pub(crate) back: Option<Rgb>,
    /// Whether it is bold.
    pub(crate) is_bold: bool,
    /// Whether it leans.
    pub(crate) is_italic: bool,
    /// Whether a line stands below it.
    pub(crate) is_underlined: bool,
}

/// Text that looks alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    /// Where it begins.
    pub(crate) column: usize,
    /// How many columns it takes.
    pub(crate) width: usize,
    /// The text.
    pub(crate) text: String,
    /// How it looks.
    pub(crate) look: Look,
}

/// What can be seen of a row.
pub(crate) type Row = Vec<Run>;

/// The rows of a screen.
pub(crate) fn of_screen(screen: &vt100::Screen) -> Vec<Row> {
    let (rows, cols) = screen.size();
    let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
    (0..rows.get())
        .map(|row| {
            let cells = (0..cols.get()).filter_map(|col| {
                let cell = screen.cell(row, col).filter(|cell| !cell.is_wide_continuation())?;
                Some((usize::from(col), cell, cursor == Some((row, col))))
            });
            of_cells(cells)
        })
        .collect()
}

fn of_cells<'a>(cells: impl Iterator<Item = (usize, &'a vt100::Cell, bool)>) -> Row {
    let mut row: Row = Vec::new();
    for (column, cell, has_cursor) in cells {
        let look = look(cell, has_cursor);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let width = if cell.is_wide() { 2 } else { 1 };
        match row.last_mut() {
            // A sign of two columns stands by itself: fonts disagree on its width.
            Some(last) if last.look == look && width == 1 && last.column + last.width == column => {
                last.text.push_str(text);
                last.width += width;
            }
            _ => row.push(Run { column, width, text: text.to_owned(), look }),
        }
    }
    row.retain(|run| !run.text.trim().is_empty() || run.look.back.is_some());
    for run in row.iter_mut().filter(|run| run.look.back.is_none() && !run.look.is_underlined) {
        let end = run.text.trim_end().len();
        run.width -= run.text.len() - end;
        run.text.truncate(end);
    }
    row
}

fn look(cell: &vt100::Cell, has_cursor: bool) -> Look {
    let mut front = colour::of(cell.fgcolor());
    let mut back = colour::of(cell.bgcolor());
    if cell.inverse() != has_cursor {
        let behind = front.unwrap_or(colour::FOREGROUND);
        front = Some(back.unwrap_or(colour::BACKGROUND));
        back = Some(behind);
    }
    if cell.dim() {
        front = Some(colour::dimmed(front.unwrap_or(colour::FOREGROUND)));
    }
    Look {
        front,
        back,
        is_bold: cell.bold(),
        is_italic: cell.italic(),
        is_underlined: cell.underline(),
    }
}

/// The row without its looks.
pub(crate) fn plain(row: &Row) -> String {
    let mut text = String::new();
    let mut column = 0;
    for run in row {
        text.push_str(&" ".repeat(run.column.saturating_sub(column)));
        text.push_str(&run.text);
        column = run.column + run.width;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let (rows, cols) = (NonZeroU16::new(2).unwrap(), NonZeroU16::new(20).unwrap());
        let mut parser = vt100::Parser::new(rows, cols, 0);
        parser.process(format!("\x1b[?25l{text}").as_bytes());
        of_screen(parser.screen())
    }

    #[test]
    fn text_that_looks_alike_is_one_run() {
        let rows = rows("plain \x1b[1;31mbold\x1b[0m  end\r\n");
        let runs: Vec<(usize, &str)> =
            rows[0].iter().map(|run| (run.column, run.text.as_str())).collect();
        assert_eq!(runs, [(0, "plain"), (6, "bold"), (10, "  end")]);
        assert!(rows[0][1].look.is_bold && rows[0][1].look.front == Some((0xff, 0x7b, 0x72)));
        assert!(rows[1].is_empty());
        assert_eq!(plain(&rows[0]), "plain bold  end");
    }

    #[test]
    fn signs_of_two_columns_and_colours_behind_nothing_keep_their_place() {
        let rows = rows("漢字 \x1b[44m   \x1b[0mx");
        let runs: Vec<(usize, usize)> = rows[0].iter().map(|run| (run.column, run.width)).collect();
        assert_eq!(runs, [(0, 2), (2, 2), (5, 3), (8, 1)]);
        assert_eq!(plain(&rows[0]), "漢字    x");
    }
}
