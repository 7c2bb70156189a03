//! What a message holds: words, a file, or one of the phrases that stand for something else.
//!
//! A message that was taken back is kept, with no text and `extra.kind` of `deleted`. It is no
//! [`DeletionFact`](protocol::chat::DeletionFact): that would say that this hub knew the message
//! before, and when it was taken back, while the line only says that one had been there.

use protocol::chat::{Attachment, ContentType};
use serde_json::{Map, Value};

use super::locales::{self, Placeholder};
use super::media::{self, MediaFiles};
use super::words::{self, OWN_MARK};
use super::{place, poll};

/// A message's text, read.
#[derive(Debug, PartialEq)]
pub(super) struct Body {
    pub(super) content: ContentType,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
    pub(super) extra: Map<String, Value>,
    pub(super) is_edited: bool,
    /// What makes this message the same in another export, with or without its files, in another
    /// language, with other votes.
    pub(super) identity: String,
}

impl Body {
    fn new(content: ContentType, text: &str, identity: String) -> Self {
        Self {
            content,
            text: tidy(text),
            attachments: Vec::new(),
            extra: Map::new(),
            is_edited: false,
            identity,
        }
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(key.to_owned(), value.into());
        self
    }

    /// A file, sent or left out, with the words that came with it.
    fn file(content: ContentType, caption: &str) -> Self {
        Self::new(content, caption, format!("file\n{}", tidy(caption)))
    }

    /// One of the app's own lines.
    pub(super) fn service(text: &str) -> Self {
        let text = tidy(text);
        Self::new(ContentType::Service, &text, format!("service\n{text}"))
    }
}

/// A text without what the app puts around it.
fn tidy(text: &str) -> String {
    let text = words::trim_marks_start(text).trim_end_matches(char::is_whitespace);
    let text = text.trim_end_matches(words::is_mark);
    // The app writes mentions as an at sign and a name within marks.
    if !text.contains("@\u{2068}") {
        return text.to_owned();
    }
    let mut tidied = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("@\u{2068}") {
        tidied.push_str(before);
        tidied.push('@');
        let (name, behind) = after.split_once('\u{2069}').unwrap_or((after, ""));
        tidied.push_str(name);
        rest = behind;
    }
    tidied.push_str(rest);
    tidied
}

/// Reads the text of a message that somebody sent.
pub(super) fn read(raw: &str, files: &MediaFiles) -> Body {
    let (text, is_edited) = strip_edited(raw);
    let mut content = read_unedited(text, files);
    content.is_edited = is_edited;
    content
}

fn read_unedited(text: &str, files: &MediaFiles) -> Body {
    if let Some(content) = placeholder(text).or_else(|| attachment(text, files)) {
        return content;
    }
    if let Some(poll) = poll::read(text) {
        let choices = poll.choices.iter().map(|(choice, _)| choice.as_str()).collect::<Vec<_>>();
        let shown = format!("{}\n{}", poll.question, choices.join("\n"));
        return Body::new(ContentType::Poll, &shown, format!("poll\n{shown}"))
            .with("options", poll.to_value());
    }
    if let Some(place) = place::read(text) {
        let mut content = Body::new(ContentType::Location, text, format!("place\n{}", place.link));
        if let Some((latitude, longitude)) = place.point {
            content = content.with("latitude", latitude).with("longitude", longitude);
        }
        return content;
    }
    if text.starts_with(OWN_MARK) && !words::trim(text).is_empty() {
        // Only the app puts this mark first; it is a phrase that the tables do not hold.
        return missed_call(text).unwrap_or_else(|| Body::service(text));
    }
    let text = tidy(text);
    let identity = format!("text\n{}", words::without_marks(&text));
    Body::new(ContentType::Text, &text, identity)
}

/// Takes the mark of a changed message off its end.
fn strip_edited(raw: &str) -> (&str, bool) {
    let text = raw.trim_end_matches(|c: char| c.is_whitespace() || words::is_mark(c));
    let Some((before, inner)) = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'))
    else {
        return (raw, false);
    };
    // In languages whose phrase is not known, the app's mark before the bracket tells it too.
    let is_own = before.ends_with(OWN_MARK) && !inner.contains([':', '\n', '.']);
    let is_mark = locales::is_edited_mark(inner)
        || is_own
            && !words::trim(before).is_empty()
            && locales::placeholder(inner).is_none()
            && !locales::is_attached_word(inner);
    if is_mark { (before, true) } else { (raw, false) }
}

fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Phrases from here on are too long to be written by chance without the app's marks.
const BARE_PHRASE_CHARACTERS_MIN: usize = 12;

fn placeholder(text: &str) -> Option<Body> {
    let (line, rest) = first_line(text);
    if let Some(found) = locales::placeholder(line) {
        let is_marked = line.starts_with([OWN_MARK, '<'])
            || words::trim(line).chars().count() >= BARE_PHRASE_CHARACTERS_MIN;
        return stands_for(found.what, rest)
            .filter(|_| is_marked)
            .or_else(|| words::trim(rest).is_empty().then(|| alone(found.what, line)).flatten());
    }
    // `Bill.pdf • 3 pages document omitted`, and words that came with a picture.
    let (before, phrase) = line.rsplit_once(OWN_MARK)?;
    let found = locales::placeholder(phrase)?;
    let before = words::without_marks(before);
    let (name, _) = before.split_once('•').unwrap_or((&before, ""));
    let name = words::trim(name);
    if found.what == Placeholder::Document && media::is_file_name(name) {
        let mut content = stands_for(found.what, rest)?;
        content.attachments.push(MediaFiles::default().attachment(name));
        return Some(content);
    }
    if words::trim(&before).is_empty() {
        return stands_for(found.what, rest).or_else(|| alone(found.what, phrase));
    }
    stands_for(found.what, words::trim(&format!("{}\n{rest}", words::trim(&before))))
}

/// A phrase in place of a file, which words may follow.
fn stands_for(placeholder: Placeholder, caption: &str) -> Option<Body> {
    let content = |content| Some(Body::file(content, caption).with("omitted", true));
    match placeholder {
        Placeholder::Media => {
            content(ContentType::Other).map(|content| content.with("kind", "media"))
        }
        Placeholder::Image => content(ContentType::Image),
        Placeholder::Video => content(ContentType::Video),
        Placeholder::Gif => content(ContentType::Video).map(|content| content.with("kind", "gif")),
        Placeholder::Audio => content(ContentType::Audio),
        Placeholder::Sticker => content(ContentType::Sticker),
        Placeholder::Document => content(ContentType::File),
        Placeholder::Contact => content(ContentType::Contact),
        _ => None,
    }
}

/// A phrase that is all there is.
fn alone(placeholder: Placeholder, phrase: &str) -> Option<Body> {
    match placeholder {
        Placeholder::Deleted => {
            Some(Body::new(ContentType::Other, "", "deleted".to_owned()).with("kind", "deleted"))
        }
        Placeholder::MissedVoice => Some(call(phrase, "missed_voice")),
        Placeholder::MissedVideo => Some(call(phrase, "missed_video")),
        Placeholder::LiveLocation => Some(
            Body::new(ContentType::Location, phrase, "live_location".to_owned())
                .with("kind", "live_location"),
        ),
        _ => None,
    }
}

/// A call that was missed, where a text is that: `Missed voice call. Tap to call back`.
pub(super) fn missed_call(text: &str) -> Option<Body> {
    let ends = |character: char| matches!(character, '.' | ',' | '，' | '、' | '。' | OWN_MARK);
    let text = words::trim_marks_start(text);
    let phrase = text.split(ends).next()?;
    match locales::placeholder(phrase).or_else(|| locales::placeholder(text))?.what {
        Placeholder::MissedVoice => Some(call(text, "missed_voice")),
        Placeholder::MissedVideo => Some(call(text, "missed_video")),
        _ => None,
    }
}

fn call(text: &str, kind: &str) -> Body {
    Body::new(ContentType::Call, text, kind.to_owned()).with("kind", kind)
}

fn attachment(text: &str, files: &MediaFiles) -> Option<Body> {
    let (line, rest) = first_line(text);
    if let Some((name, before)) = in_brackets(line, files) {
        return Some(attached(&name, &before, rest, files));
    }
    // Words that came with a file may stand before it, in several lines.
    if let Some((before, last)) = text.rsplit_once('\n')
        && let Some((name, between)) = in_brackets(last, files)
    {
        return Some(attached(&name, before, &between, files));
    }
    let name = in_parentheses(line, files).or_else(|| beside_phrase(line))?;
    Some(attached(&name, "", rest, files))
}

fn attached(name: &str, before: &str, behind: &str, files: &MediaFiles) -> Body {
    let (content, kind) = media::content_of(name);
    // Before a document stands its name again, and how many pages it has.
    let about = words::without_marks(before);
    let about = words::trim(&about);
    let is_name = about.split('•').next().is_some_and(|shown| {
        let shown = words::trim(shown);
        media::is_file_name(shown) && name.ends_with(shown)
    });
    let before = if is_name { "" } else { about };
    let caption = [before, words::trim(behind)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    let mut content = Body::file(content, &caption);
    content.attachments.push(files.attachment(name));
    if let Some(kind) = kind {
        content = content.with("kind", kind);
    }
    content
}

/// `words <attached: 00000012-PHOTO.jpg>`, or in older files `00000012-PHOTO.jpg <attached>`.
fn in_brackets(line: &str, files: &MediaFiles) -> Option<(String, String)> {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || words::is_mark(c));
    let (before, inner) = line.strip_suffix('>')?.rsplit_once('<')?;
    let Some((word, name)) = inner.split_once([':', '：']) else {
        let name = words::without_marks(before);
        let name = words::trim(&name);
        return (locales::is_attached_word(inner) && media::is_file_name(name))
            .then(|| (name.to_owned(), String::new()));
    };
    let name = words::without_marks(name);
    let name = words::trim(&name);
    let is_known =
        before.ends_with(OWN_MARK) || locales::is_attached_word(word) || files.contains(name);
    (is_known && media::is_file_name(name)).then(|| (name.to_owned(), before.to_owned()))
}

/// `IMG-20240131-WA0007.jpg (file attached)`.
fn in_parentheses(line: &str, files: &MediaFiles) -> Option<String> {
    let line = words::without_marks(line);
    let (name, phrase) = words::trim(&line).strip_suffix(')')?.rsplit_once('(')?;
    let name = words::trim(name);
    let is_known = locales::is_attached_file_phrase(phrase)
        || files.contains(name)
        || media::is_given_name(name);
    (is_known && media::is_file_name(name)).then(|| name.to_owned())
}

/// Languages that write the phrase before the name, or without parentheses.
fn beside_phrase(line: &str) -> Option<String> {
    if line.len() > protocol::limits::import::ENTRY_NAME_BYTES_MAX {
        return None;
    }
    let line = words::without_marks(line);
    let name = line.split_whitespace().find(|word| media::is_given_name(word))?;
    let phrase = line.replacen(name, "", 1);
    locales::is_attached_file_phrase(&phrase).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(raw: &str) -> Body {
        read(raw, &MediaFiles::default())
    }

    #[test]
    fn words_stay_as_they_are() {
        let content = plain("first\n\n  second: <third>\n");
        assert_eq!(content.content, ContentType::Text);
        assert_eq!(content.text, "first\n\n  second: <third>");
        assert!(!content.is_edited);
    }

    #[test]
    fn a_changed_message_loses_its_mark() {
        for raw in [
            "new words <This message was edited>",
            "new words \u{200e}<This message was edited>",
            "new words <Diese Nachricht wurde bearbeitet.>",
            "new words \u{200e}<phrase of another language>",
        ] {
            let content = plain(raw);
            assert_eq!(content.text, "new words", "{raw}");
            assert!(content.is_edited, "{raw}");
        }
        assert!(!plain("I like <b>").is_edited);
    }

    #[test]
    fn a_message_that_was_taken_back_is_kept_without_words() {
        for raw in
            ["This message was deleted", "\u{200e}You deleted this message.", "Mensagem apagada"]
        {
            let content = plain(raw);
            assert_eq!(content.content, ContentType::Other, "{raw}");
            assert_eq!(content.text, "");
            assert_eq!(content.extra.get("kind").unwrap(), "deleted");
        }
    }

    #[test]
    fn files_that_were_left_out_are_told_apart() {
        for (raw, content, caption) in [
            ("<Media omitted>", ContentType::Other, ""),
            ("<Media omitted>\nlook", ContentType::Other, "look"),
            ("\u{200e}image omitted", ContentType::Image, ""),
            ("\u{200e}圖片已略去", ContentType::Image, ""),
            ("\u{200e}Video weggelassen", ContentType::Video, ""),
            ("\u{200e}GIF omis", ContentType::Video, ""),
            ("\u{200e}audio omis", ContentType::Audio, ""),
            ("\u{200e}sticker omitido", ContentType::Sticker, ""),
            ("\u{200e}Contact card omitted", ContentType::Contact, ""),
            ("look at this \u{200e}image omitted", ContentType::Image, "look at this"),
        ] {
            let read = plain(raw);
            assert_eq!(read.content, content, "{raw}");
            assert_eq!(read.text, caption, "{raw}");
            assert_eq!(read.extra.get("omitted"), Some(&Value::Bool(true)), "{raw}");
        }
    }

    #[test]
    fn short_phrases_without_a_mark_are_words() {
        assert_eq!(plain("ei kuvaa").content, ContentType::Text);
        assert_eq!(plain("\u{200e}ei kuvaa").content, ContentType::Image);
    }

    #[test]
    fn a_document_that_was_left_out_keeps_its_name() {
        let content = plain("\u{200e}Bill 3.pdf • \u{200e}3 pages \u{200e}document omitted");
        assert_eq!(content.content, ContentType::File);
        assert_eq!(content.attachments[0].name.as_deref(), Some("Bill 3.pdf"));
        assert_eq!(content.attachments[0].mime_type.as_deref(), Some("application/pdf"));
        assert_eq!(content.text, "");
    }

    #[test]
    fn attached_files_are_found_in_every_shape() {
        for (raw, name, caption) in [
            ("\u{200e}<attached: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", ""),
            ("\u{200e}<Anhang: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", ""),
            ("look \u{200e}<قالب: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", "look"),
            ("00000012-PHOTO.jpg <\u{200e}attached>", "00000012-PHOTO.jpg", ""),
            ("one\ntwo \u{200e}<attached: a.jpg>", "a.jpg", "one\ntwo"),
            ("IMG-20240131-WA0007.jpg (file attached)", "IMG-20240131-WA0007.jpg", ""),
            ("IMG-20240131-WA0007.jpg (fichier joint)\nici", "IMG-20240131-WA0007.jpg", "ici"),
            ("\u{200e}Bill.pdf (Datei angehängt)", "Bill.pdf", ""),
            ("IMG-20240131-WA0007.jpg (inconnu)", "IMG-20240131-WA0007.jpg", ""),
            ("فایل پیوست شد IMG-20240131-WA0007.jpg", "IMG-20240131-WA0007.jpg", ""),
            ("\u{200e}A.pdf • \u{200e}2 pages \u{200e}<attached: 0001-A.pdf>", "0001-A.pdf", ""),
        ] {
            let content = plain(raw);
            assert_eq!(content.attachments.len(), 1, "{raw}");
            assert_eq!(content.attachments[0].name.as_deref(), Some(name), "{raw}");
            assert_eq!(content.text, caption, "{raw}");
        }
        assert!(plain("see notes.txt (version 2)").attachments.is_empty());
    }

    #[test]
    fn a_file_is_the_same_whether_it_was_exported_or_not() {
        let with = plain("IMG-20240131-WA0007.jpg (file attached)\nlook");
        assert_eq!(with.identity, plain("<Medien ausgeschlossen>\nlook").identity);
    }

    #[test]
    fn the_size_of_a_file_comes_from_the_archive() {
        let mut files = MediaFiles::default();
        files.insert("a.bin".to_owned(), 77);
        let content = read("a.bin (whatever)", &files);
        assert_eq!(content.attachments[0].bytes, Some(77));
    }

    #[test]
    fn calls_places_and_polls_are_known() {
        assert_eq!(plain("\u{200e}Missed voice call").content, ContentType::Call);
        assert_eq!(missed_call("Verpasster Videoanruf").unwrap().extra["kind"], "missed_video");
        let place = plain("location: https://maps.google.com/?q=52.5,13.25");
        assert_eq!(place.content, ContentType::Location);
        assert_eq!(place.extra["latitude"], 52.5);
        let poll = plain(
            "\u{200e}POLL:\nWhere?\n\u{200e}OPTION: Here (2 votes)\n\u{200e}OPTION: There (0 votes)",
        );
        assert_eq!(poll.content, ContentType::Poll);
        assert_eq!(poll.text, "Where?\nHere\nThere");
    }

    #[test]
    fn a_phrase_of_the_app_that_nobody_knows_is_its_own() {
        let content = plain("\u{200e}Anna changed the wallpaper");
        assert_eq!(content.content, ContentType::Service);
        assert_eq!(content.text, "Anna changed the wallpaper");
    }

    #[test]
    fn mentions_lose_their_marks() {
        assert_eq!(
            plain("hi @\u{2068}~Anna\u{2069}, and @\u{2068}Ben\u{2069}!").text,
            "hi @~Anna, and @Ben!"
        );
    }
}
