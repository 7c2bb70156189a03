//! The words that the app writes in an export, in every language in which it is known to write.
//!
//! An export carries no tag that names its language. Every phrase is looked up among those of all
//! languages at once, and a phrase that is found is a hint which language the file is in.

mod asian;
mod european;
mod germanic;
mod indic;
mod romance;
mod semitic;
mod slavic;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words;

/// What the app writes in one language. Phrases are compared without case, marks and end stops.
pub(super) struct Locale {
    pub(super) tag: &'static str,
    /// Names of the exported file; `{}` stands for the chat.
    pub(super) titles: &'static [&'static str],
    /// Parts of the notice that the chat is encrypted, with which every chat begins.
    pub(super) encrypted: &'static [&'static str],
    /// Parts of the notice that somebody created the group; all of one list must be there.
    pub(super) created: &'static [&'static [&'static str]],
    /// Parts of other notices that only groups have.
    pub(super) group: &'static [&'static str],
    pub(super) deleted: &'static [&'static str],
    pub(super) edited: &'static [&'static str],
    pub(super) media: &'static [&'static str],
    pub(super) image: &'static [&'static str],
    pub(super) video: &'static [&'static str],
    pub(super) audio: &'static [&'static str],
    pub(super) sticker: &'static [&'static str],
    pub(super) gif: &'static [&'static str],
    pub(super) document: &'static [&'static str],
    pub(super) contact: &'static [&'static str],
    /// What Android writes behind the name of a file, in parentheses.
    pub(super) attached_file: &'static [&'static str],
    /// What an iPhone writes before the name of a file, in angle brackets.
    pub(super) attached: &'static [&'static str],
    pub(super) missed_voice: &'static [&'static str],
    pub(super) missed_video: &'static [&'static str],
    pub(super) live_location: &'static [&'static str],
}

const EMPTY: Locale = Locale {
    tag: "",
    titles: &[],
    encrypted: &[],
    created: &[],
    group: &[],
    deleted: &[],
    edited: &[],
    media: &[],
    image: &[],
    video: &[],
    audio: &[],
    sticker: &[],
    gif: &[],
    document: &[],
    contact: &[],
    attached_file: &[],
    attached: &[],
    missed_voice: &[],
    missed_video: &[],
    live_location: &[],
};

/// Every language.
pub(super) fn all() -> impl Iterator<Item = &'static Locale> {
    [germanic::ALL, romance::ALL, slavic::ALL, european::ALL, semitic::ALL, indic::ALL, asian::ALL]
        .into_iter()
        .flatten()
}

/// What stands in an export in place of what a person sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Placeholder {
    Deleted,
    Media,
    Image,
    Video,
    Audio,
    Sticker,
    Gif,
    Document,
    Contact,
    MissedVoice,
    MissedVideo,
    LiveLocation,
}

/// A phrase that was found, and the language it is of; absent where several languages share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<T> {
    pub(super) what: T,
    pub(super) tag: Option<&'static str>,
}

type Phrases<T> = HashMap<String, Found<T>>;

static PLACEHOLDERS: LazyLock<Phrases<Placeholder>> = LazyLock::new(|| {
    let mut phrases = Phrases::new();
    for locale in all() {
        for (what, list) in [
            (Placeholder::Deleted, locale.deleted),
            (Placeholder::Media, locale.media),
            (Placeholder::Image, locale.image),
            (Placeholder::Video, locale.video),
            (Placeholder::Audio, locale.audio),
            (Placeholder::Sticker, locale.sticker),
            (Placeholder::Gif, locale.gif),
            (Placeholder::Document, locale.document),
            (Placeholder::Contact, locale.contact),
            (Placeholder::MissedVoice, locale.missed_voice),
            (Placeholder::MissedVideo, locale.missed_video),
            (Placeholder::LiveLocation, locale.live_location),
        ] {
            add(&mut phrases, what, list, locale.tag);
        }
    }
    phrases
});

static EDITED: LazyLock<Phrases<()>> = LazyLock::new(|| gather(|locale| locale.edited));
static ATTACHED: LazyLock<Phrases<()>> = LazyLock::new(|| gather(|locale| locale.attached));
static ATTACHED_FILE: LazyLock<Phrases<()>> =
    LazyLock::new(|| gather(|locale| locale.attached_file));

fn gather(list: impl Fn(&Locale) -> &'static [&'static str]) -> Phrases<()> {
    let mut phrases = Phrases::new();
    for locale in all() {
        add(&mut phrases, (), list(locale), locale.tag);
    }
    phrases
}

fn add<T: Copy>(phrases: &mut Phrases<T>, what: T, list: &[&str], tag: &'static str) {
    for phrase in list {
        phrases
            .entry(words::fold_phrase(phrase))
            // Which kind it is goes by the language that is listed first.
            .and_modify(|found| found.tag = found.tag.filter(|known| *known == tag))
            .or_insert(Found { what, tag: Some(tag) });
    }
}

/// The longest phrase of these tables in bytes, with room to spare.
const PHRASE_BYTES_MAX: usize = 256;

/// What a text stands for, where it is one of the app's own phrases and nothing else.
pub(super) fn placeholder(text: &str) -> Option<Found<Placeholder>> {
    (text.len() <= PHRASE_BYTES_MAX)
        .then(|| PLACEHOLDERS.get(&words::fold_phrase(text)).copied())
        .flatten()
}

/// Whether a text is the mark of a message that was changed.
pub(super) fn is_edited_mark(text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && EDITED.contains_key(&words::fold_phrase(text))
}

/// Whether a text is what an iPhone writes before the name of a file.
pub(super) fn is_attached_word(text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && ATTACHED.contains_key(&words::fold_phrase(text))
}

/// Whether a text is what Android writes behind the name of a file.
pub(super) fn is_attached_file_phrase(text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && ATTACHED_FILE.contains_key(&words::fold_phrase(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_more_languages_than_promised() {
        assert!(all().count() >= 45);
    }

    #[test]
    fn every_language_says_what_every_export_may_hold() {
        for locale in all() {
            assert!(!locale.titles.is_empty(), "{}", locale.tag);
            assert!(!locale.encrypted.is_empty(), "{}", locale.tag);
            assert!(!locale.media.is_empty(), "{}", locale.tag);
            assert!(!locale.attached_file.is_empty(), "{}", locale.tag);
            assert!(locale.titles.iter().all(|title| title.matches("{}").count() == 1));
        }
    }

    #[test]
    fn a_phrase_is_found_with_brackets_marks_and_stops() {
        let found = placeholder("\u{200e}<Médias omis>").unwrap();
        assert_eq!(found, Found { what: Placeholder::Media, tag: Some("fr") });
        assert_eq!(placeholder("This message was deleted.").unwrap().what, Placeholder::Deleted);
        assert_eq!(
            placeholder("このメッセージは削除されました。").unwrap().what,
            Placeholder::Deleted
        );
        assert!(placeholder("I omitted the image").is_none());
    }

    #[test]
    fn a_phrase_of_several_languages_names_none() {
        assert_eq!(placeholder("video omitido").unwrap().tag, Some("es"));
        assert_eq!(placeholder("documento omitido").unwrap().tag, None);
    }
}
