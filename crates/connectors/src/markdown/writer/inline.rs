//! What stands in a line.

use super::Writer;
use crate::markdown::document::Inline;
use crate::markdown::flavour::{self, Flavour, Style};
use crate::markdown::line::Line;

impl Writer<'_> {
    pub(super) fn inlines(&mut self, inlines: &[Inline]) {
        for inline in inlines {
            self.inline(inline);
        }
    }

    fn inline(&mut self, inline: &Inline) {
        match inline {
            Inline::Text(text) => self.text(text),
            Inline::Code(code) => {
                flavour::code(self.flavour, &mut self.line, code, self.place);
            }
            Inline::Strong(inner) => self.styled(Style::Strong, inner),
            Inline::Emphasis(inner) => self.styled(Style::Emphasis, inner),
            Inline::Strike(inner) => self.styled(Style::Strike, inner),
            Inline::Link { url, label } => self.link(url, label),
            Inline::Ref(id) => self.reference(id),
            Inline::Break => self.line_break(),
        }
    }

    /// A text with markup around it.
    pub(super) fn styled(&mut self, style: Style, inner: &[Inline]) {
        let was_strong = self.is_strong;
        // Slack reads two stars in a row as nothing at all.
        let is_known = style == Style::Strong && was_strong;
        if is_known || inner.iter().all(is_blank) {
            self.inlines(inner);
            return;
        }
        self.is_strong |= style == Style::Strong;
        let around = self.flavour.around(style);
        self.line.glue(around);
        self.place.depth += 1;
        self.inlines(inner);
        self.place.depth -= 1;
        self.line.atom(around, self.place.depth);
        self.is_strong = was_strong;
    }

    /// A link; what cannot be one is its label, with the address behind.
    pub(super) fn link(&mut self, url: &str, label: &[Inline]) {
        if self.is_in_link {
            self.inlines(label);
            return;
        }
        let spelled = self.aside(label);
        let label_text = plain(label);
        let is_bare = label_text.trim().is_empty() || label_text == url;
        let shown = if is_bare { "" } else { spelled.as_str() };
        if let Some(link) = flavour::link(self.flavour, url, shown) {
            let depth = self.place.depth;
            self.line.atom(&link, depth);
            return;
        }
        self.inlines(label);
        if !is_bare || label_text.trim().is_empty() {
            self.text(&format!(" ({url})"));
        }
    }

    /// What a label looks like inside of a link.
    fn aside(&mut self, label: &[Inline]) -> String {
        let line = std::mem::take(&mut self.line);
        // A label does not begin its line.
        self.line = Line { text: " ".to_owned(), ..Line::default() };
        self.is_in_link = true;
        let one: Vec<Inline> = label.iter().map(super::without_break).collect();
        self.inlines(&one);
        self.is_in_link = false;
        std::mem::replace(&mut self.line, line).text.trim().to_owned()
    }

    /// A citation.
    fn reference(&mut self, id: &str) {
        let (number, url) = self.refs.cite(id);
        let label = match self.flavour {
            Flavour::Slack => format!("[{number}]"),
            _ => number.to_string(),
        };
        let link = url.filter(|_| !self.is_in_link);
        match link.and_then(|url| flavour::link(self.flavour, &url, &label)) {
            Some(link) => {
                let depth = self.place.depth;
                self.line.atom(&link, depth);
            }
            None => self.text(&format!("[{number}]")),
        }
    }

    /// The end of a line, which in a cell is a blank.
    fn line_break(&mut self) {
        if self.place.is_cell {
            self.text(" ");
            return;
        }
        self.end();
        self.begin();
    }
}

fn is_blank(inline: &Inline) -> bool {
    match inline {
        Inline::Text(text) | Inline::Code(text) => text.trim().is_empty(),
        Inline::Break => true,
        Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
            inner.iter().all(is_blank)
        }
        Inline::Link { .. } | Inline::Ref(_) => false,
    }
}

/// The text of a label.
fn plain(label: &[Inline]) -> String {
    let mut out = String::new();
    for inline in label {
        match inline {
            Inline::Text(text) | Inline::Code(text) => out.push_str(text),
            Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                out.push_str(&plain(inner));
            }
            Inline::Link { label, .. } => out.push_str(&plain(label)),
            Inline::Ref(id) => out.push_str(id),
            Inline::Break => out.push(' '),
        }
    }
    out
}
