//! Tables: rows with bars, or columns of code where a service has none.

use std::rc::Rc;

use super::Writer;
use crate::markdown::document::{Inline, Row};
use crate::markdown::flavour::Flavour;
use crate::markdown::line::{Fence, units};

/// The head of a table is said again behind a break unless it is longer than this.
const HEAD_UNITS_MAX: usize = 500;
/// A column is padded up to this width.
const COLUMN_MAX: usize = 40;

impl Writer<'_> {
    pub(super) fn table(&mut self, rows: &[Row]) {
        if self.flavour == Flavour::Slack {
            self.columns(rows);
        } else {
            self.bars(rows);
        }
    }

    fn bars(&mut self, rows: &[Row]) {
        let columns = rows.first().map_or(0, Vec::len);
        self.place.is_cell = true;
        let mut open = String::new();
        for (index, row) in rows.iter().enumerate() {
            self.begin();
            self.line.opens = index == 0;
            self.line.glue("|");
            for cell in row {
                self.line.glue(" ");
                self.inlines(cell);
                self.line.glue(" ");
                self.line.atom("|", 0);
            }
            if index > 0 {
                self.end();
                continue;
            }
            let rest = self.line.rest_prefix.clone();
            open.push_str(&rest);
            open.push_str(&self.line.text);
            self.end();
            self.begin();
            let rule = format!("|{}", " --- |".repeat(columns));
            self.line.opens = true;
            self.line.glue(&rule);
            self.end();
            for piece in ["\n", &rest, &rule] {
                open.push_str(piece);
            }
            if units(&open) <= HEAD_UNITS_MAX {
                self.fence = Some(Rc::new(Fence { open: open.clone(), close: String::new() }));
            }
        }
        self.fence = None;
        self.place.is_cell = false;
    }

    /// Cells one below the other, as code. Links lose their addresses nowhere: they stand behind.
    fn columns(&mut self, rows: &[Row]) {
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| self.cell(cell)).collect()).collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let widths =
                cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            widths.max().unwrap_or(0).min(COLUMN_MAX)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (index, row) in cells.iter().enumerate() {
            let padded = row.iter().zip(&widths).map(|(cell, width)| {
                let missing = width.saturating_sub(cell.chars().count());
                format!("{cell}{}", " ".repeat(missing))
            });
            text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
            if index == 0 {
                let rule = widths.iter().map(|width| "-".repeat((*width).max(1)));
                text.push_str(&rule.collect::<Vec<_>>().join("  "));
                text.push('\n');
            }
        }
        self.fenced("```", "", &text);
    }

    /// A cell as plain text.
    fn cell(&mut self, cell: &[Inline]) -> String {
        let mut out = String::new();
        for inline in cell {
            match inline {
                Inline::Text(text) | Inline::Code(text) => out.push_str(text),
                Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                    out.push_str(&self.cell(inner));
                }
                Inline::Link { url, label } => {
                    let label = self.cell(label);
                    out.push_str(&label);
                    if label.trim() != url.trim() {
                        for piece in [" (", url, ")"] {
                            out.push_str(piece);
                        }
                    }
                }
                Inline::Ref(id) => {
                    let number = self.refs.cite(id).0.to_string();
                    for piece in ["[", &number, "]"] {
                        out.push_str(piece);
                    }
                }
                Inline::Break => out.push(' '),
            }
        }
        out
    }
}
