//! What agents write, at each service.

mod golden;
mod properties;
mod rules;

use protocol::relay::Citation;

use super::{Flavour, render, split};

const FLAVOURS: [Flavour; 4] =
    [Flavour::Slack, Flavour::GitHub, Flavour::Sentry, Flavour::OpenProject];

/// A text as one part.
fn written(flavour: Flavour, text: &str) -> String {
    parts(flavour, text, 1_000_000).join("\u{1}")
}

fn parts(flavour: Flavour, text: &str, units_max: usize) -> Vec<String> {
    split(&render(flavour, text, &citations()), units_max)
}

fn citations() -> Vec<Citation> {
    let citation = |id: &str, title: &str, url: Option<&str>| Citation {
        id: id.to_owned(),
        title: title.to_owned(),
        url: url.map(str::to_owned),
    };
    vec![
        citation("ref_1", "Runbook: carts & prices", Some("https://docs.example/carts?a=1&b=2")),
        citation("ref_2", "A note without a page", None),
        citation("ref_3", "Evil <!channel> @here", Some("javascript:alert(1)")),
    ]
}
