//! Comments in Markdown: the text in parts, who stands behind it under the last one, and a mark at the
//! end of each.

use connector_api::{Part, Posting};
use serde_json::Value;

use crate::markdown::{self, Flavour, mark, units};

/// How a service's comments are made.
pub(crate) struct Shape<'a> {
    /// Its markup.
    pub(crate) flavour: Flavour,
    /// How long one may be.
    pub(crate) units_max: usize,
    /// What ends each, for a mark.
    pub(crate) tail: &'a dyn Fn(&str) -> String,
}

/// The parts of a posting; `body` makes what the service is sent.
pub(crate) fn comments(
    posting: &Posting,
    shape: &Shape<'_>,
    body: impl Fn(&str) -> Value,
) -> Vec<Part> {
    let action = &posting.action;
    let rendered = markdown::render(shape.flavour, &action.text, &action.citations);
    let footer = posting.footer.as_deref().filter(|footer| !footer.trim().is_empty());
    let footer =
        footer.map(|footer| format!("\n\n*{}*", markdown::plain_line(shape.flavour, footer)));
    let footer = footer.unwrap_or_default();
    // Room for the longest tail there can be, and for the footer, which any part may turn out to carry.
    let tail_max = units(&(shape.tail)(&mark::of_part(&posting.mark, usize::MAX))) + 2;
    let room = shape.units_max.saturating_sub(tail_max + units(&footer));
    let texts = markdown::split(&rendered, room);
    let last = texts.len().saturating_sub(1);
    let part = |(index, text): (usize, String)| {
        let mark = mark::of_part(&posting.mark, index);
        let footer = if index == last { footer.as_str() } else { "" };
        let text = format!("{text}{footer}\n\n{}", (shape.tail)(&mark));
        Part { index, body: body(&text), mark }
    };
    texts.into_iter().enumerate().map(part).collect()
}
