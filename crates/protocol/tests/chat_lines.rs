//! A conversation as text, read back by a reader that knows nothing but the documented format.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use proptest::prelude::*;
use waystation_protocol::Timestamp;
use waystation_protocol::chat::clean::{clean, clean_name};
use waystation_protocol::chat::lines::{Line, Note, render};

/// A message as the reader understands it.
#[derive(Clone, Debug, PartialEq)]
struct Heard {
    at: Timestamp,
    sender: Option<String>,
    content: String,
}

/// The strict reader: every line is a head, a further line or a note, or the text is broken.
fn read(text: &str) -> Vec<Heard> {
    let mut heard: Vec<Heard> = Vec::new();
    for line in python_lines(text) {
        if let Some(more) = line.strip_prefix("  | ") {
            let last = heard.last_mut().unwrap();
            last.content.push('\n');
            last.content.push_str(more);
        } else if let Some(head) = line.strip_prefix('[') {
            heard.push(read_head(head).unwrap());
        } else {
            assert!(line.starts_with("# "), "neither head, further line nor note: {line:?}");
        }
    }
    heard
}

fn read_head(head: &str) -> Option<Heard> {
    let (at, rest) = head.split_once("] ")?;
    let (sender, content) = match rest.strip_prefix('"') {
        Some(quoted) => read_quoted(quoted)?,
        None => match rest.split_once(": ")? {
            ("-", content) => (None, content),
            (name, content) => (Some(name.to_owned()), content),
        },
    };
    Some(Heard { at: at.parse().ok()?, sender, content: content.to_owned() })
}

fn read_quoted(text: &str) -> Option<(Option<String>, &str)> {
    let mut name = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '\\' => name.push(chars.next()?),
            '"' => return Some((Some(name), chars.as_str().strip_prefix(": ")?)),
            c => name.push(c),
        }
    }
}

/// Lines as Python's `splitlines` sees them, which knows more ends of lines than most.
fn python_lines(text: &str) -> Vec<&str> {
    let ends = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}',
        '\u{2029}',
    ];
    text.split_terminator(ends).collect()
}

fn moment() -> Timestamp {
    "2025-01-13T09:30:00Z".parse().unwrap()
}

fn line<'a>(sender: &'a str, content: &'a str) -> Line<'a> {
    Line { at: moment(), sender: Some(sender), content }
}

#[test]
fn a_message_is_written_as_the_specification_says() {
    let text = line("Alice", "see you at 9: bring [the] \"plan\"").to_string();
    assert_eq!(text, "[2025-01-13T09:30:00Z] Alice: see you at 9: bring [the] \"plan\"");
}

#[test]
fn a_body_cannot_begin_a_message() {
    let body = "hi\n[2025-01-13T09:31:00Z] Bob: I agree\r# next: messages://evil/x\u{2028}\n";
    let text = line("Alice", body).to_string();
    let expected = "[2025-01-13T09:30:00Z] Alice: hi\n  | [2025-01-13T09:31:00Z] Bob: I agree\n  | # next: messages://evil/x\n  | \n  | ";
    assert_eq!(text, expected);
}

#[test]
fn a_body_cannot_leave_its_message_with_a_bar_of_its_own() {
    assert_eq!(read(&render([line("Alice", "a\n  | b\n[x")])).len(), 1);
}

#[test]
fn a_name_cannot_speak_for_another() {
    for (name, shown) in [
        ("Bob: I agree", r#""Bob: I agree": x"#),
        ("Bob\n[2025-01-13T09:31:00Z] Carol", r#""Bob [2025-01-13T09:31:00Z] Carol": x"#),
        (r#"Bob": y"#, r#""Bob\": y": x"#),
        (r"Bob\", r#""Bob\\": x"#),
        ("Bob：fine", r#""Bob：fine": x"#),
        ("-", r#""-": x"#),
        ("O'Brien (work) #1", "O'Brien (work) #1: x"),
    ] {
        let text = line(name, "x").to_string();
        assert_eq!(text, format!("[2025-01-13T09:30:00Z] {shown}"), "{name:?}");
    }
}

#[test]
fn a_message_of_nobody_is_told_from_a_person() {
    for sender in [None, Some(""), Some(" \u{200b}")] {
        let text = Line { at: moment(), sender, content: "Alice joined" }.to_string();
        assert_eq!(text, "[2025-01-13T09:30:00Z] -: Alice joined");
    }
}

#[test]
fn a_note_is_one_line() {
    let note = Note { about: "chat", text: "telegram/a\n[2025] Bob: b\u{202e}" };
    assert_eq!(note.to_string(), "# chat: telegram/a [2025] Bob: b");
}

fn text_that_forges() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{1c}", "\u{85}", "\u{2028}", "[", "]", "] ", ": ",
            ":", " ", "\"", "\\", "\\\"", "-", "|", "  | ", "# next: ", "# ", "\u{202e}", "\u{200b}",
            "[2025-01-13T09:30:00Z] ", "Bob", "Alice: ", "\n[2025-01-13T09:30:00Z] Bob: ", "\t", "...",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_back_is_what_was_said(
        messages in prop::collection::vec(
            (0_i64..4_000_000_000_000, prop::option::of(text_that_forges()), text_that_forges()),
            0..8,
        ),
        note in text_that_forges(),
    ) {
        let lines = messages.iter().map(|(ms, sender, content)| Line {
            at: Timestamp::from_ms(*ms),
            sender: sender.as_deref(),
            content,
        });
        let text = render(lines) + &Note { about: "next", text: &note }.to_string();
        let said: Vec<Heard> = messages
            .iter()
            .map(|(ms, sender, content)| Heard {
                at: Timestamp::from_ms(*ms),
                sender: sender.as_deref().map(|name| clean_name(name).into_owned()).filter(|name| !name.is_empty()),
                content: clean(content).into_owned(),
            })
            .collect();
        prop_assert_eq!(read(&text), said);
    }

    #[test]
    fn any_text_makes_one_message(sender in any::<String>(), content in any::<String>()) {
        prop_assert_eq!(read(&render([line(&sender, &content)])).len(), 1);
    }
}
