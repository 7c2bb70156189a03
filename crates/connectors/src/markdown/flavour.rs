//! Whose markup a text is written in.

use protocol::limits::outbound as limits;

use super::line::{Line, units};
use super::{commonmark, slack};

/// A service's own markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Slack's mrkdwn.
    Slack,
    /// GitHub's Markdown.
    GitHub,
    /// Sentry's Markdown.
    Sentry,
    /// OpenProject's Markdown.
    OpenProject,
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// How much markup is open around it.
    pub(super) depth: usize,
    /// Whether it is a cell of a table.
    pub(super) is_cell: bool,
}

/// Markup around a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Strong,
    Emphasis,
    Strike,
}

impl Flavour {
    /// What stands before and after a text of this style.
    pub(super) fn around(self, style: Style) -> &'static str {
        match (self, style) {
            (Self::Slack, Style::Strong) => "*",
            (Self::Slack, Style::Emphasis) => "_",
            (Self::Slack, Style::Strike) => "~",
            (_, Style::Strong) => "**",
            (_, Style::Emphasis) => "*",
            (_, Style::Strike) => "~~",
        }
    }
}

/// Writes a text so that nothing in it is markup.
pub(super) fn text(flavour: Flavour, line: &mut Line, text: &str, place: Place) {
    match flavour {
        Flavour::Slack => slack::text(line, text, place),
        _ => commonmark::text(flavour, line, text, place),
    }
}

/// Writes code that stands in a line.
pub(super) fn code(flavour: Flavour, line: &mut Line, code: &str, place: Place) {
    match flavour {
        Flavour::Slack => slack::code(line, code, place),
        _ => commonmark::code(flavour, line, code, place),
    }
}

/// A link, if it is one that a service may be given and not too long.
pub(super) fn link(flavour: Flavour, url: &str, label: &str) -> Option<String> {
    let url = safe_url(url)?;
    let link = match flavour {
        Flavour::Slack => slack::link(&url, label),
        _ => commonmark::link(&url, label),
    };
    (units(&link) <= limits::MARKDOWN_LINK_UNITS_MAX).then_some(link)
}

/// An address that leads out into the web or to a mailbox, spelled so that it ends no markup.
pub(super) fn safe_url(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once(':')?;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let is_page = is_web && rest.len() > 2 && rest.starts_with("//");
    let is_mailbox = scheme.eq_ignore_ascii_case("mailto") && rest.contains('@');
    if !is_page && !is_mailbox {
        return None;
    }
    let mut safe = String::with_capacity(url.len());
    for sign in url.chars() {
        let is_plain = !sign.is_whitespace()
            && !sign.is_control()
            && !r#"<>|"'`\()[]{}^*~"#.contains(sign)
            && !super::neutral::is_invisible(sign);
        if is_plain {
            safe.push(sign);
        } else {
            encode(sign, &mut safe);
        }
    }
    Some(super::mark::without_marks_in_url(&safe))
}

fn encode(sign: char, out: &mut String) {
    let mut bytes = [0; 4];
    for byte in sign.encode_utf8(&mut bytes).bytes() {
        out.push('%');
        for digit in [byte >> 4, byte & 15] {
            let digit = char::from_digit(digit.into(), 16).expect("half a byte is one digit");
            out.push(digit.to_ascii_uppercase());
        }
    }
}
