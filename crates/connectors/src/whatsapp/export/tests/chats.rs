//! One group chat in every language on both platforms, with all that an export may hold.

use jiff::civil::{DateTime, date};
use protocol::chat::{ChatType, ContentType};

use super::styles::{STYLES, Style};
use super::{Kept, import};
use crate::whatsapp::export::locales::{self, Locale};
use crate::whatsapp::export::stamp::Platform;

const PLATFORMS: [Platform; 2] = [Platform::Iphone, Platform::Android];

fn locale(style: &Style) -> &'static Locale {
    locales::all().find(|locale| locale.tag == style.language).unwrap()
}

fn first<'a>(phrases: &[&'a str], otherwise: &'a str) -> &'a str {
    phrases.first().copied().unwrap_or(otherwise)
}

/// Lines of a chat, each with its time; further lines of a message stand behind a line feed.
fn chat(style: &Style, platform: Platform) -> String {
    let locale = locale(style);
    let at = |day, hour, minute| date(2024, 12, day).at(hour, minute, 7, 0);
    let mut text = String::new();
    let mut say = |at: DateTime, line: &str| {
        text.push_str(&style.stamp(platform, at));
        text.push_str(line);
        text.push_str("\r\n");
    };
    let is_iphone = platform == Platform::Iphone;
    let notice = locale.encrypted[0];
    let omitted = match platform {
        Platform::Iphone | Platform::OldIphone => {
            format!("\u{200e}{}", first(locale.image, "image omitted"))
        }
        Platform::Android => format!("<{}>", locale.media[0]),
    };
    let file = match platform {
        Platform::Iphone | Platform::OldIphone => {
            format!("\u{200e}<{}: 0007-PHOTO.jpg>", first(locale.attached, "attached"))
        }
        Platform::Android => format!("IMG-20241202-WA0007.jpg ({})", locale.attached_file[0]),
    };
    let mark = if is_iphone { "\u{200e}" } else { "" };
    if is_iphone {
        say(at(1, 0, 5), &format!("Circle: \u{200e}… {notice} …"));
    } else {
        say(at(1, 0, 5), &format!("… {notice} … WhatsApp."));
    }
    say(at(1, 0, 7), "Anna Bell: one: two");
    say(at(1, 12, 8), "\u{202a}+49 151 12345678\u{202c}: first\r\n\r\n  second");
    say(at(2, 13, 9), &format!("Ben: {omitted}"));
    say(at(2, 23, 10), &format!("Ben: {file}\r\ncaption"));
    say(
        at(3, 3, 11),
        &format!("Anna Bell: {mark}{}.", first(locale.deleted, "This message was deleted")),
    );
    say(
        at(13, 4, 12),
        &format!("Anna Bell: new {mark}<{}>", first(locale.edited, "This message was edited")),
    );
    say(at(13, 4, 12), "Ben: ok");
    say(at(13, 4, 12), "Ben: ok");
    say(
        at(13, 4, 12),
        &format!("Ben: {mark}{}", locale.missed_voice.first().unwrap_or(&"Missed voice call")),
    );
    text
}

fn name(style: &Style) -> String {
    format!("{}.txt", locale(style).titles[0].replace("{}", "Circle"))
}

fn each(check: impl Fn(&str, Platform, &Kept)) {
    for style in STYLES {
        for platform in PLATFORMS {
            let kept = import(&name(style), &chat(style, platform));
            check(&format!("{} {platform:?}", style.tag), platform, &kept);
        }
    }
}

#[test]
fn there_are_many_more_languages_than_fifteen() {
    let languages: std::collections::HashSet<_> =
        STYLES.iter().map(|style| style.language).collect();
    assert!(languages.len() >= 30, "{}", languages.len());
}

#[test]
fn times_are_right_in_every_language_on_both_platforms() {
    each(|tag, platform, kept| {
        let times: Vec<String> =
            kept.facts.messages.iter().map(|message| message.sent_at.to_string()).collect();
        let expected = match platform {
            Platform::Iphone | Platform::OldIphone => [
                "2024-12-01T00:05:07Z",
                "2024-12-01T00:07:07Z",
                "2024-12-01T12:08:07Z",
                "2024-12-02T13:09:07Z",
                "2024-12-02T23:10:07Z",
                "2024-12-03T03:11:07Z",
                "2024-12-13T04:12:07Z",
                "2024-12-13T04:12:07.001Z",
                "2024-12-13T04:12:07.002Z",
                "2024-12-13T04:12:07.003Z",
            ],
            Platform::Android => [
                "2024-12-01T00:05:00Z",
                "2024-12-01T00:07:00Z",
                "2024-12-01T12:08:00Z",
                "2024-12-02T13:09:00Z",
                "2024-12-02T23:10:00Z",
                "2024-12-03T03:11:00Z",
                "2024-12-13T04:12:00Z",
                "2024-12-13T04:12:00.001Z",
                "2024-12-13T04:12:00.002Z",
                "2024-12-13T04:12:00.003Z",
            ],
        };
        assert_eq!(times, expected, "{tag}");
        assert!(kept.skipped.is_empty(), "{tag}");
    });
}

#[test]
fn senders_and_texts_are_right_in_every_language_on_both_platforms() {
    each(|tag, _, kept| {
        let phone = Some("+4915112345678");
        let (anna, ben) = (Some("Anna Bell"), Some("Ben"));
        let senders = [None, anna, phone, ben, ben, anna, anna, ben, ben, ben];
        assert_eq!(kept.senders(), senders, "{tag}");
        let texts = kept.texts();
        assert_eq!(
            texts[1..9],
            ["one: two", "first\n\n  second", "", "caption", "", "new", "ok", "ok"],
            "{tag}"
        );
        assert_eq!(kept.facts.people.len(), 3, "{tag}");
    });
}

#[test]
fn what_messages_hold_is_right_in_every_language_on_both_platforms() {
    each(|tag, platform, kept| {
        let content: Vec<ContentType> =
            kept.facts.messages.iter().map(|message| message.content).collect();
        let omitted = match platform {
            Platform::Iphone | Platform::OldIphone => ContentType::Image,
            Platform::Android => ContentType::Other,
        };
        let text = ContentType::Text;
        assert_eq!(
            content,
            [
                ContentType::Service,
                text,
                text,
                omitted,
                ContentType::Image,
                ContentType::Other,
                text,
                text,
                text,
                ContentType::Call,
            ],
            "{tag}"
        );
        assert_eq!(kept.message(4).attachments.len(), 1, "{tag}");
        assert_eq!(kept.message(5).extra["kind"], "deleted", "{tag}");
        assert_eq!(kept.message(6).edited_at, Some(kept.message(6).sent_at), "{tag}");
        assert_eq!(kept.message(7).edited_at, None, "{tag}");
    });
}

#[test]
fn the_chat_is_known_in_every_language_on_both_platforms() {
    each(|tag, _, kept| {
        assert_eq!(kept.facts.chats.len(), 1);
        let chat = &kept.facts.chats[0];
        assert_eq!(chat.chat_id, "export:circle", "{tag}");
        assert_eq!(chat.name.as_deref(), Some("Circle"), "{tag}");
        assert_eq!(chat.chat_type, Some(ChatType::Group), "{tag}");
        let held = &kept.facts.held;
        assert_eq!(held.len(), 1);
        assert_eq!(held[0].from, None, "{tag}: the notice is the chat's beginning");
        assert_eq!(held[0].to, kept.message(9).sent_at, "{tag}");
    });
}
