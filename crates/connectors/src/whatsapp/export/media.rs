//! Files beside a chat: what they are by their names, and how large.

use std::collections::HashMap;

use protocol::chat::{Attachment, ContentType};

use super::words;

/// The files that lie beside a chat, by name.
#[derive(Debug, Default)]
pub(super) struct MediaFiles {
    bytes: HashMap<String, u64>,
}

impl MediaFiles {
    pub(super) fn insert(&mut self, name: String, bytes: u64) {
        self.bytes.insert(name, bytes);
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.bytes.contains_key(name)
    }

    /// The attachment of this name.
    pub(super) fn attachment(&self, name: &str) -> Attachment {
        Attachment {
            name: Some(name.to_owned()),
            mime_type: mime_type(name).map(str::to_owned),
            bytes: self.bytes.get(name).copied(),
            ..Attachment::default()
        }
    }
}

/// What a file is, and what the app calls it where that says more.
pub(super) fn content_of(name: &str) -> (ContentType, Option<&'static str>) {
    let upper = name.to_ascii_uppercase();
    let has = |part: &str| upper.contains(part);
    if upper.starts_with("PTT-") {
        return (ContentType::Voice, None);
    }
    if upper.starts_with("STK-") || has("-STICKER-") {
        return (ContentType::Sticker, None);
    }
    if upper.starts_with("GIF-") || has("-GIF-") {
        // The app makes films of them.
        return (ContentType::Video, Some("gif"));
    }
    match extension(name).as_str() {
        "jpg" | "jpeg" | "png" | "heic" | "gif" | "bmp" | "tiff" => (ContentType::Image, None),
        "webp" if has("IMG-") || has("-PHOTO-") => (ContentType::Image, None),
        "webp" | "was" => (ContentType::Sticker, None),
        "mp4" | "mov" | "m4v" | "3gp" | "mkv" | "avi" | "webm" => (ContentType::Video, None),
        "opus" => (ContentType::Voice, None),
        "mp3" | "m4a" | "aac" | "ogg" | "oga" | "wav" | "amr" | "flac" => {
            (ContentType::Audio, None)
        }
        "vcf" => (ContentType::Contact, None),
        _ if upper.starts_with("AUD-") => (ContentType::Audio, None),
        _ => (ContentType::File, None),
    }
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// The longest ending of a file's name that is one.
const EXTENSION_CHARACTERS_MAX: usize = 8;

/// Whether a text may be the name of a file.
pub(super) fn is_file_name(text: &str) -> bool {
    let Some((stem, extension)) = text.rsplit_once('.') else { return false };
    !stem.is_empty()
        && (1..=EXTENSION_CHARACTERS_MAX).contains(&extension.chars().count())
        && extension.chars().all(char::is_alphanumeric)
        && !text.contains(['/', '\\', '\n', '<', '>'])
}

/// Whether a text is surely the name of a file, and not a sentence that holds a stop.
pub(super) fn is_document_name(text: &str) -> bool {
    is_file_name(text) && mime_type(text).is_some()
}

/// Whether this is a name that the app gives to what it keeps: `IMG-20240131-WA0007.jpg`.
pub(super) fn is_given_name(name: &str) -> bool {
    let mut parts = name.splitn(3, '-');
    let (Some(kind), Some(day), Some(number)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    matches!(kind, "IMG" | "VID" | "AUD" | "PTT" | "STK" | "DOC" | "GIF")
        && day.len() == 8
        && day.chars().all(|character| words::digit(character).is_some())
        && number.starts_with("WA")
        // Android forgets the ending of some sounds.
        && (is_file_name(name) || number.ends_with('.'))
}

fn mime_type(name: &str) -> Option<&'static str> {
    Some(match extension(name).as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "3gp" => "video/3gpp",
        "mkv" => "video/x-matroska",
        "webm" => "video/webm",
        "opus" | "ogg" | "oga" => "audio/ogg",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "aac" => "audio/aac",
        "amr" => "audio/amr",
        "wav" => "audio/wav",
        "flac" => "audio/flac",
        "vcf" => "text/vcard",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "json" => "application/json",
        "zip" => "application/zip",
        "doc" => "application/msword",
        "xls" => "application/vnd.ms-excel",
        "ppt" => "application/vnd.ms-powerpoint",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_a_file_is() {
        for (name, content) in [
            ("IMG-20240131-WA0007.jpg", ContentType::Image),
            ("00000012-PHOTO-2024-01-31-10-00-00.jpg", ContentType::Image),
            ("PTT-20240131-WA0001.opus", ContentType::Voice),
            ("00000013-AUDIO-2024-01-31-10-00-00.opus", ContentType::Voice),
            ("AUD-20240131-WA0001.mp3", ContentType::Audio),
            ("STK-20240131-WA0001.webp", ContentType::Sticker),
            ("00000014-GIF-2024-01-31-10-00-00.mp4", ContentType::Video),
            ("Anna Bell.vcf", ContentType::Contact),
            ("AUD-20240131-WA0001.", ContentType::Audio),
            ("Bill 3.pdf", ContentType::File),
        ] {
            assert_eq!(content_of(name).0, content, "{name}");
        }
    }

    #[test]
    fn given_names_are_told_from_others() {
        assert!(is_given_name("IMG-20240131-WA0007.jpg"));
        assert!(!is_given_name("IMG-2024-WA0007.jpg"));
        assert!(!is_given_name("holiday.jpg"));
        assert!(!is_file_name("../../etc/passwd.txt"));
    }
}
