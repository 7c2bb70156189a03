//! A text as a tree: blocks, and what stands in a line. Raw HTML in it is text.

use protocol::limits::outbound as limits;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::refine::refined;

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Paragraph(Vec<Inline>),
    Heading(usize, Vec<Inline>),
    Code { info: String, text: String },
    Quote(Vec<Block>),
    List { start: Option<u64>, items: Vec<Item> },
    Table(Vec<Row>),
    Rule,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Item {
    /// Whether it is ticked, if it can be.
    pub(super) ticked: Option<bool>,
    pub(super) blocks: Vec<Block>,
}

/// The cells of a row; the first row of a table is its head.
pub(super) type Row = Vec<Vec<Inline>>;

/// What stands in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Inline {
    Text(String),
    Code(String),
    Strong(Vec<Inline>),
    Emphasis(Vec<Inline>),
    Strike(Vec<Inline>),
    Link { url: String, label: Vec<Inline> },
    Ref(String),
    Break,
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Vec<Block> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder { frames: vec![Frame::Blocks(Vec::new())], opened: Vec::new() };
    for event in Parser::new_ext(text, options) {
        builder.take(event);
    }
    builder.finish()
}

/// Something that is not ended yet.
enum Frame {
    Blocks(Vec<Block>),
    Quote(Vec<Block>),
    List(Option<u64>, Vec<Item>),
    Item(Item),
    Table(Vec<Row>),
    Row(Row),
    Code(String, String),
    Line(Sort, Vec<Inline>),
}

/// What a line becomes when it ends.
enum Sort {
    Paragraph,
    /// Begun by itself, because text stood where blocks stand; ends by itself too.
    Loose,
    Heading(usize),
    Cell,
    Strong,
    Emphasis,
    Strike,
    Link(String),
}

struct Builder {
    frames: Vec<Frame>,
    /// For each thing that began, whether it has a frame.
    opened: Vec<bool>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => {
                if self.opened.pop().unwrap_or(false) {
                    self.end_loose();
                    self.end();
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) => self.inline(Inline::Code(code.into_string())),
            Event::SoftBreak | Event::HardBreak => self.inline(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(ticked) => {
                if let Some(Frame::Item(item)) = self.frames.last_mut() {
                    item.ticked = Some(ticked);
                }
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let frame = if self.frames.len() >= limits::MARKDOWN_DEPTH_MAX { None } else { frame(tag) };
        self.opened.push(frame.is_some());
        let Some(frame) = frame else { return };
        let is_within_line = matches!(&frame, Frame::Line(sort, _) if !matches!(sort, Sort::Paragraph
                | Sort::Heading(_) | Sort::Cell));
        if is_within_line {
            self.need_line();
        } else {
            self.end_loose();
        }
        self.frames.push(frame);
    }

    /// Text, which may hold the ends of lines where it comes from HTML or code.
    fn text(&mut self, text: &str) {
        if let Some(Frame::Code(_, code)) = self.frames.last_mut() {
            code.push_str(text);
            return;
        }
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.inline(Inline::Break);
            }
            if !line.is_empty() {
                self.inline(Inline::Text(line.to_owned()));
            }
        }
    }

    /// Makes sure that there is a line to write into.
    fn need_line(&mut self) {
        if !matches!(self.frames.last(), Some(Frame::Line(..))) {
            self.frames.push(Frame::Line(Sort::Loose, Vec::new()));
        }
    }

    fn inline(&mut self, inline: Inline) {
        self.need_line();
        let Some(Frame::Line(_, line)) = self.frames.last_mut() else { return };
        match (inline, line.last_mut()) {
            // Neighbours are one text, so that what is spelled across them is seen.
            (Inline::Text(more), Some(Inline::Text(text))) => text.push_str(&more),
            (inline, _) => line.push(inline),
        }
    }

    fn block(&mut self, block: Block) {
        self.end_loose();
        match self.frames.last_mut() {
            Some(Frame::Blocks(blocks) | Frame::Quote(blocks)) => blocks.push(block),
            Some(Frame::Item(item)) => item.blocks.push(block),
            // Where no block can stand, its lines are kept.
            _ => {
                if let Block::Paragraph(line) = block {
                    for inline in line {
                        self.inline(inline);
                    }
                }
            }
        }
    }

    /// Ends a line that began by itself.
    fn end_loose(&mut self) {
        if matches!(self.frames.last(), Some(Frame::Line(Sort::Loose, _))) {
            self.end();
        }
    }

    fn end(&mut self) {
        match self.frames.pop() {
            Some(Frame::Blocks(blocks)) => self.frames.push(Frame::Blocks(blocks)),
            Some(Frame::Quote(blocks)) => self.block(Block::Quote(blocks)),
            Some(Frame::List(start, items)) => self.block(Block::List { start, items }),
            Some(Frame::Item(item)) => match self.frames.last_mut() {
                Some(Frame::List(_, items)) => items.push(item),
                _ => item.blocks.into_iter().for_each(|block| self.block(block)),
            },
            Some(Frame::Table(rows)) => self.block(Block::Table(rows)),
            Some(Frame::Row(row)) => match self.frames.last_mut() {
                Some(Frame::Table(rows)) => rows.push(row),
                _ => row.into_iter().for_each(|cell| self.block(Block::Paragraph(cell))),
            },
            Some(Frame::Code(info, text)) => self.block(Block::Code { info, text }),
            Some(Frame::Line(sort, line)) => self.end_line(sort, line),
            None => {}
        }
    }

    fn end_line(&mut self, sort: Sort, line: Vec<Inline>) {
        let line = refined(line);
        match sort {
            Sort::Paragraph | Sort::Loose => {
                let line = without_outer_breaks(line);
                if !line.is_empty() {
                    self.block(Block::Paragraph(line));
                }
            }
            Sort::Heading(level) => self.block(Block::Heading(level, line)),
            Sort::Cell => match self.frames.last_mut() {
                Some(Frame::Row(row)) => row.push(line),
                _ => self.block(Block::Paragraph(line)),
            },
            Sort::Strong => self.inline(Inline::Strong(line)),
            Sort::Emphasis => self.inline(Inline::Emphasis(line)),
            Sort::Strike => self.inline(Inline::Strike(line)),
            Sort::Link(url) => self.inline(Inline::Link { url, label: line }),
        }
    }

    fn finish(mut self) -> Vec<Block> {
        while self.frames.len() > 1 {
            self.end();
        }
        match self.frames.pop() {
            Some(Frame::Blocks(blocks)) => blocks,
            _ => Vec::new(),
        }
    }
}

/// A line without the breaks around it, which HTML leaves behind.
fn without_outer_breaks(mut line: Vec<Inline>) -> Vec<Inline> {
    while line.last() == Some(&Inline::Break) {
        line.pop();
    }
    let inner = line.iter().position(|inline| *inline != Inline::Break).unwrap_or(0);
    line.split_off(inner)
}

/// What begins with a tag; nothing where its content stands on its own.
fn frame(tag: Tag<'_>) -> Option<Frame> {
    let line = |sort| Some(Frame::Line(sort, Vec::new()));
    match tag {
        Tag::Paragraph | Tag::HtmlBlock => line(Sort::Paragraph),
        Tag::Heading { level, .. } => line(Sort::Heading(number(level))),
        Tag::BlockQuote(_) => Some(Frame::Quote(Vec::new())),
        Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
            Some(Frame::Code(info.into_string(), String::new()))
        }
        Tag::CodeBlock(CodeBlockKind::Indented) => Some(Frame::Code(String::new(), String::new())),
        Tag::List(start) => Some(Frame::List(start, Vec::new())),
        Tag::Item => Some(Frame::Item(Item::default())),
        Tag::Table(_) => Some(Frame::Table(Vec::new())),
        Tag::TableHead | Tag::TableRow => Some(Frame::Row(Vec::new())),
        Tag::TableCell => line(Sort::Cell),
        Tag::Emphasis => line(Sort::Emphasis),
        Tag::Strong => line(Sort::Strong),
        Tag::Strikethrough => line(Sort::Strike),
        // A picture would be fetched by whoever looks, from wherever the agent says: it is a link.
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            line(Sort::Link(dest_url.into_string()))
        }
        _ => None,
    }
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}
