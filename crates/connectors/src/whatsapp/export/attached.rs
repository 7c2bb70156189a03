//! Finds the file that a message carries, in every shape in which phones write it.

use protocol::limits::import::ENTRY_NAME_BYTES_MAX;

use super::locales;
use super::media::{self, MediaFiles};
use super::words::{self, OWN_MARK};

/// A file that a message carries, and the words that came with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Attached {
    pub(super) name: String,
    pub(super) caption: String,
}

/// The file of a message.
pub(super) fn find(text: &str, files: &MediaFiles) -> Option<Attached> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    if let Some((name, before)) = in_brackets(line, files) {
        return Some(attached(name, &before, rest));
    }
    // Words that came with a file may stand before it, in several lines.
    if let Some((before, last)) = text.rsplit_once('\n')
        && let Some((name, between)) = in_brackets(last, files)
    {
        return Some(attached(name, &format!("{before}\n{between}"), ""));
    }
    let name = in_parentheses(line, files).or_else(|| beside_phrase(line))?;
    Some(attached(name, "", rest))
}

fn attached(name: String, before: &str, behind: &str) -> Attached {
    // With a document stands its name again, and how many pages it has.
    let repeats = |shown: &str| {
        let shown = shown.split('•').next().map(words::trim).unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        !shown.is_empty() && (name.ends_with(shown) || stem.ends_with(shown))
    };
    let before = words::without_marks(before);
    let before = Some(words::trim(&before)).filter(|before| !repeats(before)).unwrap_or_default();
    let behind = Some(words::trim(behind)).filter(|behind| !repeats(behind)).unwrap_or_default();
    let between = if before.is_empty() || behind.is_empty() { "" } else { "\n" };
    let caption = [before, between, behind].concat();
    Attached { name, caption }
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
    if media::is_given_name(name) {
        return Some(name.to_owned());
    }
    let is_known = locales::is_attached_file_phrase(phrase) || files.contains(name);
    (is_known && media::is_file_name(name)).then(|| name.to_owned())
}

/// Languages that write the phrase before the name, or without parentheses.
fn beside_phrase(line: &str) -> Option<String> {
    if line.len() > ENTRY_NAME_BYTES_MAX {
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

    #[test]
    fn files_are_found_in_every_shape() {
        for (text, name, caption) in [
            ("\u{200e}<attached: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", ""),
            ("\u{200e}<Anhang: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", ""),
            ("look \u{200e}<قالب: 00000012-PHOTO.jpg>", "00000012-PHOTO.jpg", "look"),
            ("00000012-PHOTO.jpg <\u{200e}attached>", "00000012-PHOTO.jpg", ""),
            ("one\ntwo \u{200e}<attached: a.jpg>", "a.jpg", "one\ntwo"),
            ("\u{200e}<attached: a.jpg>\nbelow", "a.jpg", "below"),
            ("IMG-20240131-WA0007.jpg (file attached)", "IMG-20240131-WA0007.jpg", ""),
            ("IMG-20240131-WA0007.jpg (fichier joint)\nici", "IMG-20240131-WA0007.jpg", "ici"),
            ("\u{200e}Bill.pdf (Datei angehängt)", "Bill.pdf", ""),
            ("Bill.pdf (file attached)\nBill", "Bill.pdf", ""),
            ("AUD-20240131-WA0007. (file attached)", "AUD-20240131-WA0007.", ""),
            ("IMG-20240131-WA0007.jpg (inconnu)", "IMG-20240131-WA0007.jpg", ""),
            ("فایل پیوست شد IMG-20240131-WA0007.jpg", "IMG-20240131-WA0007.jpg", ""),
            ("\u{200e}A.pdf • \u{200e}2 pages \u{200e}<attached: 01-A.pdf>", "01-A.pdf", ""),
            ("A • \u{200e}2 pages \u{200e}<attached: 01-A.pdf>", "01-A.pdf", ""),
        ] {
            let expected = Attached { name: name.to_owned(), caption: caption.to_owned() };
            assert_eq!(find(text, &MediaFiles::default()), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_in_brackets_are_words() {
        for text in ["see notes.txt (version 2)", "a <b: c.d>", "<b>", "(file attached)", "x.y"] {
            assert_eq!(find(text, &MediaFiles::default()), None, "{text}");
        }
    }
}
