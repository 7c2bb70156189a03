//! The chat's name, from the name of the exported file in every language, and the id made of it.

use unicode_normalization::UnicodeNormalization as _;

use super::{locales, words};

/// The name of the chat that a file of this name holds; absent where the name says nothing.
pub(super) fn from_file_name(file_name: &str) -> Option<String> {
    let stem: String = strip_extension(file_name).nfc().collect();
    let mut best: Option<(usize, &str)> = None;
    for pattern in locales::all().flat_map(|locale| locale.titles) {
        let Some((before, after)) = pattern.split_once("{}") else { continue };
        let weight = before.len().saturating_add(after.len());
        let name =
            strip_start(&stem, before).and_then(|rest| strip_end(rest, after)).map(words::trim);
        if let Some(name) = name.filter(|name| !name.is_empty())
            && best.is_none_or(|(known, _)| weight > known)
        {
            best = Some((weight, name));
        }
    }
    let (_, name) = best?;
    // Some mail programs write file names without spaces.
    let name = if stem.contains(' ') { name.to_owned() } else { name.replace('_', " ") };
    Some(words::trim(&words::without_marks(&name)).to_owned()).filter(|name| !name.is_empty())
}

/// A file's name without `.txt` or `.zip`.
pub(super) fn strip_extension(file_name: &str) -> &str {
    let Some((stem, extension)) = file_name.rsplit_once('.') else { return file_name };
    if ["txt", "zip"].iter().any(|known| extension.eq_ignore_ascii_case(known)) {
        stem
    } else {
        file_name
    }
}

/// Whether a file's name is the one that an iPhone gives to every chat.
pub(super) fn is_nameless(file_name: &str) -> bool {
    matches!(strip_extension(file_name), "_chat" | "chat")
}

/// The name without the number that a download gets when there is a file of that name already.
pub(super) fn without_copy_number(name: &str) -> Option<&str> {
    let (before, number) = name.strip_suffix(')')?.rsplit_once('(')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    Some(words::trim(before)).filter(|before| is_number && !before.is_empty())
}

/// The chat's id: the same for every export of a chat of this name.
pub(super) fn chat_id(name: &str) -> String {
    format!("export:{}", words::fold(name))
}

fn same(left: char, right: char) -> bool {
    let blank = |character: char| character.is_whitespace() || character == '_';
    left == right
        || blank(left) && blank(right)
        || left.to_lowercase().eq(right.to_lowercase())
        // Typographic and plain apostrophes and dashes take each other's place.
        || matches!((left, right), ('\'' | '’' | '׳', '\'' | '’' | '׳') | ('-' | '–', '-' | '–'))
}

fn strip_start<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let mut characters = text.chars();
    for expected in wanted.chars() {
        if !same(characters.next()?, expected) {
            return None;
        }
    }
    Some(characters.as_str())
}

fn strip_end<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let mut characters = text.chars();
    for expected in wanted.chars().rev() {
        if !same(characters.next_back()?, expected) {
            return None;
        }
    }
    Some(characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_language() {
        for (file, name) in [
            ("WhatsApp Chat with Anna.txt", "Anna"),
            ("WhatsApp Chat - Family 👨‍👩‍👧.zip", "Family 👨‍👩‍👧"),
            ("WhatsApp_Chat_with_Anna_Bell.txt", "Anna Bell"),
            ("WhatsApp-Chat mit Jörg.txt", "Jörg"),
            ("Chat de WhatsApp con José.txt", "José"),
            ("Conversa do WhatsApp com João.zip", "João"),
            ("WhatsApp-keskustelu henkilön Matti kanssa.txt", "Matti"),
            ("Ayşe ile WhatsApp Sohbeti.txt", "Ayşe"),
            ("地球님과의 WhatsApp 대화.txt", "地球"),
            ("田中とのWhatsAppチャット.txt", "田中"),
            ("WhatsApp 与 小王 的对话.txt", "小王"),
            ("דני.txt", ""),
            ("holiday.txt", ""),
        ] {
            assert_eq!(from_file_name(file).unwrap_or_default(), name, "{file}");
        }
    }

    #[test]
    fn every_title_gives_its_chat_back() {
        for locale in locales::all() {
            for pattern in locale.titles {
                let file = format!("{}.txt", pattern.replace("{}", "Reading Circle"));
                assert_eq!(from_file_name(&file).as_deref(), Some("Reading Circle"), "{file}");
            }
        }
    }

    #[test]
    fn an_id_does_not_depend_on_how_letters_are_put_together() {
        assert_eq!(chat_id("José "), chat_id("jose\u{301}"));
        assert_eq!(chat_id("José"), "export:josé");
    }

    #[test]
    fn the_number_of_a_download_is_seen() {
        assert_eq!(without_copy_number("Anna (1)"), Some("Anna"));
        assert_eq!(without_copy_number("Anna (mum)"), None);
        assert_eq!(without_copy_number("(1)"), None);
    }
}
