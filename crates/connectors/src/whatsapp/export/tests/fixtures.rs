//! Exports as phones write them, line by line.

use protocol::chat::{ChatType, ContentType};

use super::{Kept, import};

fn kinds(kept: &Kept) -> Vec<&'static str> {
    kept.facts.messages.iter().map(|message| message.content.name()).collect()
}

fn times(kept: &Kept) -> Vec<String> {
    kept.facts.messages.iter().map(|message| message.sent_at.to_string()).collect()
}

#[test]
fn a_group_from_an_american_phone() {
    let text = include_str!("../fixtures/android-en-US.txt");
    let kept = import("WhatsApp Chat with Allotment_ plot 7.txt", text);
    assert_eq!(
        kinds(&kept),
        [
            "service", "service", "service", "text", "text", "other", "image", "other", "text",
            "poll", "location", "file", "contact", "text", "call", "service"
        ]
    );
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(times(&kept)[0], "2024-03-04T09:00:00Z");
    assert_eq!(times(&kept)[4], "2024-03-04T09:05:00.001Z");
    assert_eq!(times(&kept)[10], "2024-03-05T00:01:00Z");
    assert_eq!(times(&kept)[15], "2024-03-06T19:50:00Z");
    assert!(kept.message(3).text.ends_with("shed.\n\nPlease do not post it here."));
    assert_eq!(kept.message(5).sender_id.as_deref(), Some("+447700900123"));
    assert_eq!(kept.message(6).text, "The new raised bed");
    assert_eq!(kept.message(9).extra["options"][0]["votes"], 3);
    assert_eq!(kept.message(11).text, "");
    assert_eq!(kept.facts.people.len(), 3);
    assert_eq!(kept.facts.held[0].from, None);
    assert!(kept.skipped.is_empty());
}

#[test]
fn two_people_on_a_german_iphone() {
    let kept = import("_chat.txt", include_str!("../fixtures/iphone-de.txt"));
    assert_eq!(
        kinds(&kept),
        [
            "service", "text", "image", "text", "audio", "file", "image", "other", "text", "call",
            "location"
        ]
    );
    let chat = &kept.facts.chats[0];
    assert_eq!(chat.name.as_deref(), Some("Jule Brandt"));
    assert_eq!(chat.chat_type, Some(ChatType::Direct));
    assert_eq!(times(&kept)[9], "2023-03-01T00:00:01Z");
    assert_eq!(kept.message(5).attachments[0].name.as_deref(), Some("Rechnung März.pdf"));
    assert_eq!((kept.message(8).text.as_str()), "Bis um neun.");
    assert!(kept.message(8).edited_at.is_some());
    assert_eq!(kept.message(9).extra["kind"], "missed_video");
}

#[test]
fn a_family_on_an_arabic_iphone() {
    let kept = import("_chat.txt", include_str!("../fixtures/iphone-ar.txt"));
    assert_eq!(kinds(&kept), ["service", "text", "image", "other", "text"]);
    assert_eq!(
        times(&kept),
        [
            "2022-03-18T14:55:00Z",
            "2022-03-18T14:56:00Z",
            "2022-03-18T00:05:00Z",
            "2022-03-19T12:05:00Z",
            "2022-03-19T12:06:00Z"
        ]
    );
    assert_eq!(kept.message(4).sender_id.as_deref(), Some("+966501234567"));
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("العائلة"));
}

#[test]
fn two_people_on_a_japanese_phone() {
    let kept = import("佐藤とのWhatsAppチャット.txt", include_str!("../fixtures/android-ja.txt"));
    assert_eq!(kinds(&kept), ["service", "text", "other", "text", "image", "other"]);
    assert_eq!(kept.message(3).text, "写真です: 見てください");
    assert_eq!(kept.message(5).content, ContentType::Other);
    assert_eq!(kept.facts.chats[0].chat_id, "export:佐藤");
    assert_eq!(times(&kept)[5], "2024-12-02T00:15:00Z");
}
