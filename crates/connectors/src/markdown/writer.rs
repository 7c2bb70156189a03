//! Writing a document out, line by line.

mod code;
mod inline;
mod table;

use std::rc::Rc;

use protocol::relay::Citation;

use super::document::{Block, Inline, Item};
use super::flavour::{Flavour, Place, Style};
use super::line::{Fence, Line};
use super::refs::Refs;
use super::{Rendered, flavour};

/// Writes blocks, and after them the list of the sources they cite.
pub(super) fn write(flavour: Flavour, blocks: &[Block], citations: &[Citation]) -> Rendered {
    let mut writer = Writer {
        flavour,
        refs: Refs::new(citations),
        lines: Vec::new(),
        line: Line::default(),
        prefixes: Vec::new(),
        fence: None,
        place: Place::default(),
        is_strong: false,
        is_in_link: false,
    };
    let mut rendered = Rendered::new();
    for block in blocks {
        writer.block(block);
        rendered.push(std::mem::take(&mut writer.lines));
    }
    writer.sources();
    rendered.push(std::mem::take(&mut writer.lines));
    rendered.retain(|lines| lines.iter().any(|line| !line.whole().is_empty()));
    rendered
}

struct Writer<'a> {
    flavour: Flavour,
    refs: Refs<'a>,
    lines: Vec<Line>,
    line: Line,
    prefixes: Vec<Prefix>,
    fence: Option<Rc<Fence>>,
    place: Place,
    is_strong: bool,
    is_in_link: bool,
}

/// What a container puts in front of its lines.
struct Prefix {
    /// In front of the next line alone.
    once: Option<String>,
    /// In front of all others.
    rest: String,
}

impl Writer<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(line) => {
                self.begin();
                self.inlines(line);
                self.end();
            }
            Block::Heading(level, line) => self.heading(*level, line),
            Block::Code { info, text } => self.code_block(info, text),
            Block::Quote(blocks) => {
                self.prefixes.push(Prefix { once: None, rest: "> ".to_owned() });
                self.blocks(blocks);
                self.prefixes.pop();
            }
            Block::List { start, items } => self.list(*start, items),
            Block::Table(rows) => self.table(rows),
            Block::Rule => {
                let rule = if self.flavour == Flavour::Slack { "———" } else { "---" };
                self.begin();
                self.line.atom(rule, 0);
                self.end();
            }
        }
    }

    /// Blocks inside of another one, an empty line between each two.
    fn blocks(&mut self, blocks: &[Block]) {
        if blocks.is_empty() {
            self.begin();
            self.end();
        }
        let mut before: Option<&Block> = None;
        for block in blocks {
            let is_close = matches!(before, Some(Block::Paragraph(_)))
                && matches!(block, Block::List { .. })
                && !self.prefixes.is_empty();
            let is_slack_list =
                self.flavour == Flavour::Slack && matches!(block, Block::List { .. });
            if before.is_some() && !is_close && !is_slack_list {
                self.begin();
                self.end();
            }
            self.block(block);
            before = Some(block);
        }
    }

    fn heading(&mut self, level: usize, line: &[Inline]) {
        self.begin();
        if self.flavour == Flavour::Slack {
            self.styled(Style::Strong, line);
        } else {
            self.line.glue(&"#".repeat(level.clamp(1, 6)));
            self.line.glue(" ");
            // A heading has one line.
            let one: Vec<Inline> = line.iter().map(without_break).collect();
            self.inlines(&one);
        }
        self.end();
    }

    fn list(&mut self, start: Option<u64>, items: &[Item]) {
        for (number, item) in (start.unwrap_or(0)..).zip(items) {
            let bullet = match (start, self.flavour) {
                (Some(_), _) => format!("{}. ", number.min(999_999_999)),
                (None, Flavour::Slack) => "• ".to_owned(),
                (None, _) => "- ".to_owned(),
            };
            let rest = " ".repeat(bullet.chars().count().max(2));
            let tick = match (item.ticked, self.flavour) {
                (None, _) => "",
                (Some(true), Flavour::Slack) => "☑ ",
                (Some(false), Flavour::Slack) => "☐ ",
                (Some(true), _) => "[x] ",
                (Some(false), _) => "[ ] ",
            };
            self.prefixes.push(Prefix { once: Some(format!("{bullet}{tick}")), rest });
            self.blocks(&item.blocks);
            self.prefixes.pop();
        }
    }

    /// Begins a line.
    fn begin(&mut self) {
        let mut line = Line { fence: self.fence.clone(), ..Line::default() };
        for prefix in &mut self.prefixes {
            line.prefix.push_str(&prefix.once.take().unwrap_or_else(|| prefix.rest.clone()));
            line.rest_prefix.push_str(&prefix.rest);
        }
        self.line = line;
    }

    /// Ends it.
    fn end(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    /// The list of sources.
    fn sources(&mut self) {
        let sources = self.refs.sources();
        if sources.is_empty() {
            return;
        }
        self.begin();
        self.styled(Style::Strong, &[Inline::Text("Sources".to_owned())]);
        self.end();
        if self.flavour != Flavour::Slack {
            self.begin();
            self.end();
        }
        for (number, title, url) in sources {
            self.begin();
            if self.flavour != Flavour::Slack {
                self.line.prefix.push_str("- ");
                self.line.rest_prefix.push_str("  ");
            }
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            self.text(&format!("[{number}] "));
            match url {
                Some(url) => self.link(&url, &[Inline::Text(title)]),
                None => self.text(&title),
            }
            self.end();
        }
    }

    fn text(&mut self, text: &str) {
        flavour::text(self.flavour, &mut self.line, text, self.place);
    }
}

fn without_break(inline: &Inline) -> Inline {
    match inline {
        Inline::Break => Inline::Text(" ".to_owned()),
        other => other.clone(),
    }
}
