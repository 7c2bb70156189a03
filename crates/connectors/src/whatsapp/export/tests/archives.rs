//! Exports in archives and folders, honest and otherwise.

use std::io::{Cursor, Write as _};

use connector_api::{ImportError, ImportOptions};
use protocol::chat::ContentType;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{Kept, Place, try_read};

const IPHONE: &str = "[31/12/2024, 18:30:00] Anna: hello\n\
    \u{200e}[31/12/2024, 18:30:05] Ben: look \u{200e}<attached: 00000002-PHOTO-2024.jpg>\n";
const ANDROID: &str = "31/12/2024, 18:30 - Anna: hello\n\
    31/12/2024, 18:31 - Ben: IMG-20241231-WA0001.jpg (file attached)\n";

fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn import(name: &str, files: &[(&str, &[u8])]) -> Result<Kept, ImportError> {
    let place = Place::new();
    try_read(&place.write(name, &pack(files)), &ImportOptions::default())
}

#[test]
fn an_iphone_s_archive_is_read_with_its_files() {
    let files: [(&str, &[u8]); 2] =
        [("_chat.txt", IPHONE.as_bytes()), ("00000002-PHOTO-2024.jpg", &[1; 77])];
    let kept = import("WhatsApp Chat - Anna.zip", &files).unwrap();
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("Anna"));
    let message = kept.message(1);
    assert_eq!((message.content, message.text.as_str()), (ContentType::Image, "look"));
    let attachment = &message.attachments[0];
    assert_eq!(attachment.name.as_deref(), Some("00000002-PHOTO-2024.jpg"));
    assert_eq!(attachment.mime_type.as_deref(), Some("image/jpeg"));
    assert_eq!(attachment.bytes, Some(77));
}

#[test]
fn an_android_archive_is_read_beside_texts_that_were_sent() {
    let files: [(&str, &[u8]); 4] = [
        ("Chat de WhatsApp con Anna.txt", ANDROID.as_bytes()),
        ("notes.txt", b"buy milk"),
        ("IMG-20241231-WA0001.jpg", &[1; 9]),
        ("__MACOSX/._notes.txt", b"x"),
    ];
    let kept = import("Chat de WhatsApp con Anna.zip", &files).unwrap();
    assert_eq!(kept.facts.chats.len(), 1);
    assert_eq!(kept.message(1).attachments[0].bytes, Some(9));
}

#[test]
fn a_chat_that_somebody_sent_as_a_document_is_not_taken_for_this_one() {
    let files: [(&str, &[u8]); 2] = [
        ("WhatsApp Chat with Anna.txt", ANDROID.as_bytes()),
        ("WhatsApp Chat with Zoe.txt", b"31/12/2024, 18:30 - Zoe: other\n"),
    ];
    let kept = import("WhatsApp Chat with Anna.zip", &files).unwrap();
    assert_eq!(kept.facts.chats.len(), 1);
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("Anna"));
}

#[test]
fn a_text_of_any_name_is_found_by_what_it_holds() {
    let files: [(&str, &[u8]); 2] = [("readme.txt", b"hello"), ("talk.txt", ANDROID.as_bytes())];
    let kept = import("backup.zip", &files).unwrap();
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("talk"));
}

#[test]
fn several_chats_in_one_archive_are_all_read_and_counted_on() {
    let files: [(&str, &[u8]); 2] = [
        ("WhatsApp Chat - Anna/_chat.txt", IPHONE.as_bytes()),
        ("WhatsApp Chat - Ben/_chat.txt", IPHONE.as_bytes()),
    ];
    let kept = import("all.zip", &files).unwrap();
    let ids: Vec<_> = kept.facts.chats.iter().map(|chat| chat.chat_id.as_str()).collect();
    assert_eq!(ids, ["export:anna", "export:ben"]);
    assert_eq!(kept.messages, 4);
    assert_eq!(kept.facts.held.len(), 2);
}

#[test]
fn a_folder_is_read_like_the_archive_it_came_from() {
    let place = Place::new();
    let text = place.write("WhatsApp Chat - Anna/_chat.txt", IPHONE.as_bytes());
    place.write("WhatsApp Chat - Anna/00000002-PHOTO-2024.jpg", &[1; 77]);
    let folder = text.parent().unwrap();
    let kept = try_read(folder, &ImportOptions::default()).unwrap();
    let packed = import(
        "WhatsApp Chat - Anna.zip",
        &[("_chat.txt", IPHONE.as_bytes()), ("00000002-PHOTO-2024.jpg", &[1; 77])],
    )
    .unwrap();
    assert_eq!(kept.facts, packed.facts);
}

#[test]
fn a_folder_of_archives_is_read() {
    let place = Place::new();
    place.write("WhatsApp Chat - Anna.zip", &pack(&[("_chat.txt", IPHONE.as_bytes())]));
    place.write("WhatsApp Chat with Ben.txt", ANDROID.as_bytes());
    place.write("broken.zip", b"not an archive");
    let kept = try_read(place.folder.path(), &ImportOptions::default()).unwrap();
    assert_eq!(kept.facts.chats.len(), 2);
}

#[test]
fn an_archive_without_a_chat_is_refused_with_words() {
    let error = import("x.zip", &[("channels.json", b"[]")]).unwrap_err();
    assert!(
        matches!(&error, ImportError::Malformed { reason, .. } if reason.contains("_chat.txt"))
    );
}

#[test]
fn names_that_lead_out_of_an_archive_are_refused() {
    for name in ["../_chat.txt", "/etc/_chat.txt", "a/../../_chat.txt", "C:/x.txt", "a\\b.txt"] {
        let files: [(&str, &[u8]); 2] =
            [("_chat.txt", IPHONE.as_bytes()), (name, IPHONE.as_bytes())];
        let error = import("x.zip", &files).unwrap_err();
        assert!(matches!(error, ImportError::Hostile(_)), "{name}: {error}");
    }
}

#[test]
fn an_archive_that_would_burst_is_refused() {
    let mut bomb = IPHONE.as_bytes().to_vec();
    bomb.resize(20 * 1024 * 1024, b' ');
    let error = import("WhatsApp Chat - Anna.zip", &[("_chat.txt", &bomb)]).unwrap_err();
    assert!(matches!(error, ImportError::Hostile(_)), "{error}");
}

#[test]
fn an_archive_that_lies_about_its_size_is_refused_while_it_is_read() {
    let mut bomb = IPHONE.as_bytes().to_vec();
    bomb.resize(20 * 1024 * 1024, b' ');
    let mut packed = pack(&[("_chat.txt", &bomb)]);
    // The size stands in the entry's own header, and again in the list at the end.
    let size = u32::try_from(bomb.len()).unwrap().to_le_bytes();
    let places: Vec<usize> =
        (0..packed.len() - 4).filter(|at| packed[*at..*at + 4] == size).collect();
    assert!(!places.is_empty());
    for at in places {
        packed[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    let place = Place::new();
    let path = place.write("WhatsApp Chat - Anna.zip", &packed);
    let error = try_read(&path, &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, ImportError::Read { .. }), "{error:?}");
}

#[test]
fn a_broken_archive_is_an_error_and_no_panic() {
    let whole = pack(&[("_chat.txt", IPHONE.as_bytes())]);
    let place = Place::new();
    for length in (4..whole.len()).step_by(3) {
        let path = place.write("x.zip", &whole[..length]);
        assert!(try_read(&path, &ImportOptions::default()).is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let path = place.write("x.zip", &bytes);
        // Some damage cannot be seen; none may end badly.
        drop(try_read(&path, &ImportOptions::default()));
    }
}
