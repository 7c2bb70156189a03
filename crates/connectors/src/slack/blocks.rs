//! The words of a message that stand in blocks and attachments instead of its text.

use protocol::limits::slack as limits;
use serde_json::Value;

use super::json::{is, list, text};
use super::render::{self, Renderer};

/// The words of blocks, a line for each. Those that people type repeat the text and are left out
/// by `only_built`.
pub(super) fn words(blocks: &[Value], only_built: bool, renderer: &mut Renderer<'_>) -> String {
    let mut lines = Lines::default();
    for block in blocks {
        if !(only_built && text(block, "type") == Some("rich_text")) {
            self::block(block, renderer, &mut lines);
        }
    }
    lines.text
}

/// The words of attachments, save of previews that Slack made of links.
pub(super) fn attached(attachments: &[Value], renderer: &mut Renderer<'_>) -> String {
    let mut lines = Lines::default();
    for attachment in attachments.iter().filter(|one| !is_preview(one)) {
        let before = lines.text.len();
        if let Some(words) = text(attachment, "pretext") {
            lines.push(&renderer.render(words));
        }
        if let Some(title) = text(attachment, "title") {
            let title = renderer.render(title);
            match text(attachment, "title_link") {
                Some(address) => lines.push(&render::link(address, Some(&title))),
                None => lines.push(&title),
            }
        }
        if let Some(words) = text(attachment, "text") {
            lines.push(&renderer.render(words));
        }
        for field in list(attachment, "fields") {
            let title = renderer.render(text(field, "title").unwrap_or_default());
            let value = renderer.render(text(field, "value").unwrap_or_default());
            lines.push(&if title.is_empty() { value } else { format!("{title}: {value}") });
        }
        for block in list(attachment, "blocks") {
            self::block(block, renderer, &mut lines);
        }
        if lines.text.len() == before {
            lines.push(&renderer.render(text(attachment, "fallback").unwrap_or_default()));
        }
    }
    lines.text
}

/// Whether Slack made this of a link in the text. A message that somebody shares is none.
fn is_preview(attachment: &Value) -> bool {
    let is_of_link = attachment.get("from_url").or(attachment.get("original_url")).is_some();
    is_of_link && !is(attachment, "is_share")
}

/// Lines, up to a limit.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn push(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || self.text.len() + line.len() > limits::TEXT_BYTES_MAX {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

fn block(block: &Value, renderer: &mut Renderer<'_>, lines: &mut Lines) {
    match text(block, "type").unwrap_or_default() {
        "rich_text" => {
            for element in list(block, "elements") {
                rich_lines(element, 0, renderer, lines);
            }
        }
        "context" => {
            let words: Vec<String> =
                list(block, "elements").iter().map(|one| object(one, renderer)).collect();
            lines.push(words.join(" ").trim());
        }
        // What can be pressed is not said.
        "actions" | "divider" | "input" => {}
        _ => {
            for part in ["title", "text", "description"] {
                if let Some(value) = block.get(part) {
                    lines.push(&object(value, renderer));
                }
            }
            for field in list(block, "fields") {
                lines.push(&object(field, renderer));
            }
            for row in list(block, "rows").iter().filter_map(Value::as_array) {
                let cells: Vec<String> =
                    row.iter().map(|cell| rich_line(cell, 0, renderer)).collect();
                lines.push(&cells.join(" | "));
            }
            if let Some(words) = text(block, "alt_text") {
                lines.push(words);
            }
        }
    }
}

/// A text object, a bare text, or a picture's description.
fn object(value: &Value, renderer: &mut Renderer<'_>) -> String {
    if let Some(words) = value.as_str() {
        return renderer.render(words);
    }
    match text(value, "type") {
        Some("plain_text") => render::unescaped(text(value, "text").unwrap_or_default()),
        Some("image") => text(value, "alt_text").unwrap_or_default().to_owned(),
        _ => renderer.render(text(value, "text").unwrap_or_default()),
    }
}

/// A section, list, quotation or piece of code.
fn rich_lines(element: &Value, depth: usize, renderer: &mut Renderer<'_>, lines: &mut Lines) {
    if depth >= limits::BLOCK_DEPTH_MAX {
        return;
    }
    if text(element, "type") == Some("rich_text_list") {
        for item in list(element, "elements") {
            lines.push(&format!("• {}", rich_line(item, depth + 1, renderer)));
        }
    } else {
        lines.push(&rich_line(element, depth, renderer));
    }
}

/// The words of an element and of what lies in it, in one line.
fn rich_line(element: &Value, depth: usize, renderer: &mut Renderer<'_>) -> String {
    if depth >= limits::BLOCK_DEPTH_MAX {
        return String::new();
    }
    let field = |name| text(element, name).unwrap_or_default();
    match field("type") {
        // Texts of this kind are not escaped.
        "text" | "raw_text" => field("text").to_owned(),
        "link" => render::link(field("url"), text(element, "text")),
        "emoji" => format!(":{}:", field("name")),
        "user" => renderer.person(field("user_id"), None),
        "usergroup" => format!("@{}", field("usergroup_id")),
        "channel" => renderer.chat(field("channel_id"), None),
        "broadcast" => format!("@{}", field("range")),
        "date" => field("fallback").to_owned(),
        "color" => field("value").to_owned(),
        _ => {
            let within = list(element, "elements").iter();
            within.map(|one| rich_line(one, depth + 1, renderer)).collect()
        }
    }
}
