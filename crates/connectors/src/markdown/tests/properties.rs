//! What holds for any text.

use proptest::prelude::*;
use testkit::naughty;

use super::{FLAVOURS, Flavour, parts, written};
use crate::markdown::{mark, units};

/// Pieces that texts are put together from: what Markdown is made of, and what services make something
/// of.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9 ]{1,30}",
        2 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => prop::sample::select(vec![
            "# ", "> ", "- ", "1. ", "```\n", "`", "``", "**", "*", "_", "~~", "| a | b |\n|---|---|\n| ",
            " | ", "---\n", "    ", "<!-- ", " -->", "<b>", "&amp;", "&", "<", ">", "[", "]", "(", ")", "\\",
            "@anna ", "@", "#12 ", "#", "##7", "gh-1", "user#1", "ws:out_1 0", "ws:", "out_1", "<!channel>",
            "<@U1>", "[[ref:ref_1]]", "[[ref:x]]", "[[", "https://e.org/a_(b)", "[x](https://e.org)",
            "![p](https://e.org/p)", "![", "😀", "é", "\u{200b}", "\t",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..80).prop_map(|pieces| pieces.concat())
}

/// What a reader sees, roughly: letters and digits in order.
fn letters(text: &str) -> Vec<char> {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Whether everything of the first stands in the second, in order.
fn is_within(all: &[char], within: &[char]) -> bool {
    let mut rest = within.iter();
    all.iter().all(|sign| rest.any(|found| found == sign))
}

/// What must hold for the very letters of a part.
fn is_safe(flavour: Flavour, part: &str) -> Result<(), String> {
    let lower = part.to_ascii_lowercase();
    if lower.contains("ws:out_") || lower.contains("ws-out_") || mark::find(part).is_some() {
        return Err("a mark".to_owned());
    }
    if flavour == Flavour::Slack {
        for (at, _) in part.match_indices('<') {
            let rest = &part[at + 1..];
            if !rest.starts_with("http") && !rest.starts_with("mailto:") {
                return Err(format!("markup: {rest}"));
            }
        }
    }
    Ok(())
}

/// Reads a part back, as a service does, and looks for calls in what is text there.
fn reads_safe(part: &str) -> Result<(), String> {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut is_quiet = false;
    for event in TextMergeStream::new(Parser::new_ext(part, options)) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Link { .. }) => is_quiet = true,
            Event::End(TagEnd::CodeBlock | TagEnd::Link) => is_quiet = false,
            Event::Start(Tag::Image { .. }) => return Err("a picture".to_owned()),
            Event::Html(html) | Event::InlineHtml(html) => return Err(format!("HTML: {html}")),
            Event::Text(text) if !is_quiet => {
                let signs: Vec<char> = text.chars().collect();
                for (index, sign) in signs.iter().enumerate() {
                    let before = index.checked_sub(1).and_then(|before| signs.get(before));
                    let next = signs.get(index + 1);
                    let is_free = before.is_none_or(|before| !before.is_ascii_alphanumeric());
                    if *sign == '@' && is_free && next.is_some_and(char::is_ascii_alphanumeric) {
                        return Err(format!("a mention in {text}"));
                    }
                    if *sign == '#' && next.is_some_and(char::is_ascii_digit) {
                        return Err(format!("an issue in {text}"));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn holds(flavour: Flavour, text: &str, units_max: usize) -> Result<(), String> {
    let whole = written(flavour, text);
    let parts = parts(flavour, text, units_max);
    for part in &parts {
        if units(part) > units_max {
            return Err(format!("{} units in {part}", units(part)));
        }
        is_safe(flavour, part)?;
        if flavour != Flavour::Slack {
            reads_safe(part)?;
        }
    }
    if !is_within(&letters(&whole), &letters(&parts.concat())) {
        return Err(format!("something is lost:\n{whole}\n=>\n{parts:#?}"));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_split_keeps_everything_within_its_limits_and_calls_nobody(
        text in text(),
        units_max in 2_300_usize..3_000,
        repeat in 1_usize..12,
    ) {
        let text = text.repeat(repeat);
        for flavour in FLAVOURS {
            let held = holds(flavour, &text, units_max);
            prop_assert!(held.is_ok(), "{flavour:?}: {}", held.unwrap_err());
        }
    }

    #[test]
    fn words_are_never_lost_on_the_way(words in prop::collection::vec("[a-z]{1,12}", 1..60)) {
        let text = words.join(" ");
        for flavour in FLAVOURS {
            prop_assert_eq!(letters(&written(flavour, &text)), letters(&text));
        }
    }
}

#[test]
fn a_call_before_a_citation_makes_no_picture_of_it() {
    for flavour in FLAVOURS {
        holds(flavour, "![[ref:ref_1]] and ![a](https://example.org)", 3_000).unwrap();
    }
}

#[test]
fn naughty_texts_are_within_their_limits_and_call_nobody() {
    let lines = naughty::LINES.iter().map(|line| (*line).to_owned());
    for text in lines.chain(naughty::long()) {
        for flavour in FLAVOURS {
            let held = holds(flavour, &text, 3_000);
            let start: String = text.chars().take(40).collect();
            assert!(held.is_ok(), "{flavour:?} {start:?}: {}", held.unwrap_err());
        }
    }
}
