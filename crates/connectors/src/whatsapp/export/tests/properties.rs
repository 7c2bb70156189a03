//! Chats nobody thought of: whatever is written in any language is read back, and nothing panics.

use connector_api::ImportOptions;
use jiff::civil::{DateTime, date};
use proptest::prelude::*;

use super::styles::{STYLES, Style};
use super::{Place, import, try_read};
use crate::whatsapp::export::locales;
use crate::whatsapp::export::stamp::{self, Platform};

#[derive(Clone, Debug)]
struct Said {
    at: DateTime,
    name: String,
    text: String,
}

const NAMES: [&str; 6] = ["Anna Bell", "Ben", "José", "محمد", "小王", "+49 151 12345678"];

/// Words of a person, in several lines, which are none of the app's own phrases.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-zA-Z]{1,8}",
        "[0-9]{1,4}",
        "[äßéñçøž]{1,4}",
        "[א-ת]{1,5}",
        "[ا-ي]{1,5}",
        "[一-龥]{1,4}",
        "[😀-😎]{1,2}",
        Just("note:".to_owned()),
        Just("12/31".to_owned()),
        Just("- x".to_owned()),
        Just("(file)".to_owned()),
        Just("<b>".to_owned()),
        Just("\n".to_owned()),
        Just("[1]".to_owned()),
    ];
    proptest::collection::vec(word, 1..8).prop_map(|words| words.join(" ")).prop_filter(
        "people's own words",
        |text| {
            let lines = text.lines().all(|line| stamp::read(line).is_none());
            text.trim() == text && !text.is_empty() && lines && locales::placeholder(text).is_none()
        },
    )
}

fn chat() -> impl Strategy<Value = Vec<Said>> {
    let said = (1_i64..200_000, 0..NAMES.len(), words());
    proptest::collection::vec(said, 1..25).prop_map(|list| {
        let mut at = date(2023, 5, 29).at(22, 0, 0, 0);
        list.into_iter()
            .map(|(seconds, name, text)| {
                at = at.checked_add(jiff::Span::new().seconds(seconds)).unwrap();
                Said { at, name: NAMES[name].to_owned(), text }
            })
            .collect()
    })
}

fn render(style: &Style, platform: Platform, chat: &[Said]) -> String {
    // The notice with which every chat begins, and a day above twelve.
    let start = date(2023, 5, 29).at(0, 30, 0, 0);
    let locale = locales::all().find(|locale| locale.tag == style.language).unwrap();
    let mut text = format!("{}{}\n", style.stamp(platform, start), locale.encrypted[0]);
    let first = Said {
        at: date(2023, 5, 29).at(1, 0, 0, 0),
        name: "Ben".to_owned(),
        text: "first".to_owned(),
    };
    for said in std::iter::once(&first).chain(chat) {
        text.push_str(&style.stamp(platform, said.at));
        text.extend([said.name.as_str(), ": ", said.text.as_str(), "\n"]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_chat_in_any_language_is_read_back(
        chat in chat(),
        style in 0..STYLES.len(),
        iphone in any::<bool>(),
    ) {
        let platform = if iphone { Platform::Iphone } else { Platform::Android };
        let style = &STYLES[style];
        let kept = import("WhatsApp Chat with Us.txt", &render(style, platform, &chat));
        prop_assert_eq!(kept.facts.messages.len(), chat.len() + 2, "{}", style.tag);
        for (message, said) in kept.facts.messages.iter().skip(2).zip(&chat) {
            let civil = if iphone { said.at } else { said.at.with().second(0).build().unwrap() };
            let expected = civil.in_tz("UTC").map(|zoned| zoned.timestamp().as_millisecond());
            let expected = expected.unwrap_or_else(|_| {
                jiff::tz::TimeZone::UTC.to_timestamp(civil).unwrap().as_millisecond()
            });
            let room = if iphone { 1_000 } else { 60_000 };
            prop_assert_eq!(message.sent_at.as_ms() / room, expected / room, "{}", style.tag);
            prop_assert_eq!(&message.text, &said.text);
            prop_assert_eq!(message.sender_id.as_deref().unwrap(), said.name.replace("+49 151 ", "+49151"));
        }
        let times: Vec<_> = kept.facts.messages.iter().map(|message| message.sent_at).collect();
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        let ids: std::collections::HashSet<_> = kept.ids().into_iter().collect();
        prop_assert_eq!(ids.len(), kept.facts.messages.len());
    }

    #[test]
    fn a_longer_export_begins_with_the_shorter_one(
        chat in chat(),
        style in 0..STYLES.len(),
        keep in 0..25_usize,
    ) {
        let style = &STYLES[style];
        let keep = keep.min(chat.len());
        let long = import("WhatsApp Chat with Us.txt", &render(style, Platform::Android, &chat));
        let short =
            import("WhatsApp Chat with Us.txt", &render(style, Platform::Android, &chat[..keep]));
        prop_assert_eq!(&long.facts.messages[..keep + 2], short.facts.messages.as_slice());
    }

    #[test]
    fn damaged_bytes_never_panic(
        chat in chat(),
        style in 0..STYLES.len(),
        iphone in any::<bool>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let platform = if iphone { Platform::Iphone } else { Platform::Android };
        let mut bytes = render(&STYLES[style], platform, &chat).into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let place = Place::new();
        let path = place.write("WhatsApp Chat with Us.txt", &bytes);
        drop(try_read(&path, &ImportOptions::default()));
    }

    #[test]
    fn any_bytes_at_all_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let place = Place::new();
        let path = place.write("WhatsApp Chat with Us.txt", &bytes);
        drop(try_read(&path, &ImportOptions::default()));
    }

    #[test]
    fn lines_made_of_likely_parts_never_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("["), Just("]"), Just(" - "), Just("/"), Just("."), Just(":"), Just(": "),
                Just(", "), Just("1"), Just("31"), Just("2024"), Just("99"), Just("0"), Just("R"),
                Just("PM"), Just("下午"), Just("م"), Just("\u{200e}"), Just("\u{200f}"), Just("<"),
                Just(">"), Just("("), Just(")"), Just("\n"), Just("POLL:"), Just("OPTION: a (1)"),
                Just("IMG-20240101-WA0001.jpg"), Just("<attached: a.b>"), Just("@\u{2068}"),
                Just("Media omitted"), Just("https://maps.google.com/?q=1,2"), Just("•"),
            ],
            0..60,
        ),
    ) {
        let text = format!("31/12/2024, 18:30 - A: x\n{}", parts.concat());
        let kept = import("WhatsApp Chat with Us.txt", &text);
        prop_assert!(!kept.facts.messages.is_empty());
    }
}
