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
use super::{attached, place, poll};

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
    if let Some(content) = placeholder(text).or_else(|| sent_file(text, files)) {
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

fn sent_file(text: &str, files: &MediaFiles) -> Option<Body> {
    let attached = attached::find(text, files)?;
    let (content, kind) = media::content_of(&attached.name);
    let mut body = Body::file(content, &attached.caption);
    body.attachments.push(files.attachment(&attached.name));
    if let Some(kind) = kind {
        body = body.with("kind", kind);
    }
    Some(body)
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
    let (name, pages) = before.split_once('•').unwrap_or((&before, ""));
    let name = words::trim(name);
    let is_name = media::is_file_name(name) || !pages.is_empty() && !name.is_empty();
    if found.what == Placeholder::Document && is_name {
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
    let name = words::trim(caption);
    if placeholder == Placeholder::Media && media::is_document_name(name) {
        // Newer phones write the name of a document beneath.
        let mut body = Body::file(ContentType::File, "").with("omitted", true);
        body.attachments.push(MediaFiles::default().attachment(name));
        return Some(body);
    }
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
        let content = plain("<Media omitted>\nBill.pdf");
        assert_eq!(content.attachments[0].name.as_deref(), Some("Bill.pdf"));
        assert_eq!(content.identity, plain("Bill.pdf (file attached)\nBill").identity);
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
