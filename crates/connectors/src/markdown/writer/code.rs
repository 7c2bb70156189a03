//! Code blocks.

use std::rc::Rc;

use protocol::limits::outbound as limits;

use super::Writer;
use crate::markdown::flavour::Flavour;
use crate::markdown::line::{Fence, Line};
use crate::markdown::{commonmark, slack};

impl Writer<'_> {
    pub(super) fn code_block(&mut self, info: &str, text: &str) {
        let ticks = match self.flavour {
            Flavour::Slack => "```".to_owned(),
            _ => commonmark::fence(text),
        };
        let info = if self.flavour == Flavour::Slack { String::new() } else { language(info) };
        self.fenced(&ticks, &info, text);
    }

    /// Lines of code between two rows of ticks.
    pub(super) fn fenced(&mut self, ticks: &str, info: &str, text: &str) {
        self.begin();
        self.line.opens = true;
        self.line.glue(ticks);
        self.line.glue(info);
        let rest = self.line.rest_prefix.clone();
        self.end();
        let open = format!("{rest}{ticks}{info}");
        let close = format!("{rest}{ticks}");
        self.fence = Some(Rc::new(Fence { open, close }));
        for code in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.begin();
            let mut line = std::mem::take(&mut self.line);
            self.code_line(&mut line, code);
            self.line = line;
            self.end();
        }
        self.fence = None;
        self.begin();
        self.line.glue(ticks);
        self.end();
    }

    fn code_line(&self, line: &mut Line, code: &str) {
        match self.flavour {
            Flavour::Slack => slack::code_line(line, code),
            flavour => commonmark::code_line(flavour, line, code),
        }
    }
}

/// The language of a code block, as far as it is one.
fn language(info: &str) -> String {
    let word = info.split(|sign: char| sign.is_whitespace() || sign == ',').next();
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "+-#._".contains(sign);
    let word = word.unwrap_or_default();
    if word.chars().count() > limits::MARKDOWN_INFO_CHARS_MAX || !word.chars().all(is_plain) {
        return String::new();
    }
    word.to_owned()
}
