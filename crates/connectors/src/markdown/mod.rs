//! Agents write CommonMark with `[[ref:id]]`; each service gets what it understands.
//!
//! A text is parsed into a document, written out anew line by line, and split where the service takes
//! no more. Nothing is passed on as it stands: what an agent writes can neither call people, nor link
//! what it names, nor look like one of our own marks.

mod commonmark;
mod document;
mod flavour;
mod line;
pub(crate) mod mark;
mod neutral;
mod refine;
mod refs;
mod slack;
mod split;
mod writer;

#[cfg(test)]
mod tests;

use protocol::relay::Citation;

pub(crate) use flavour::Flavour;
pub(crate) use line::units;
pub(crate) use split::split;

use self::line::Line;

/// A text in a service's own markup: its blocks, each some lines.
pub(crate) type Rendered = Vec<Vec<Line>>;

/// Writes a text for a service, with the list of its sources at the end.
pub(crate) fn render(flavour: Flavour, text: &str, citations: &[Citation]) -> Rendered {
    writer::write(flavour, &document::parse(text), citations)
}

/// Writes one line that is no markup at all.
pub(crate) fn plain_line(flavour: Flavour, text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = Line::default();
    flavour::text(flavour, &mut line, &words, flavour::Place::default());
    line.text
}
