//! What an import promises, whatever the language.

use connector_api::{DayOrder, ImportError, ImportOptions, Importer as _, Probe};
use jiff::tz::TimeZone;
use protocol::chat::{Alias, ChatType, ContentType};

use super::{Place, import, try_import, try_read};
use crate::whatsapp::export::WhatsAppExport;

const NAME: &str = "WhatsApp Chat with Anna.txt";

fn detect(name: &str, head: &[u8], names: &[&str]) -> Option<(String, u8)> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let probe = Probe { path: name.as_ref(), head, names: &names };
    WhatsAppExport.detect(&probe).map(|found| (found.what, found.confidence))
}

#[test]
fn an_importer_says_what_it_reads() {
    assert_eq!(WhatsAppExport.service(), "whatsapp");
    assert_eq!(WhatsAppExport.format(), "WhatsApp chat export");
}

#[test]
fn a_chat_is_seen_from_its_beginning() {
    let head = b"31/12/2024, 18:30 - Anna: hello\n31/12/2024, 18:31 - Ben: hi\n";
    let (what, confidence) = detect(NAME, head, &[]).unwrap();
    assert_eq!(what, "one chat, \"Anna\"");
    assert!(confidence > 90);
    assert!(detect("notes.txt", head, &[]).unwrap().1 < confidence);
    assert!(detect("notes.txt", b"buy milk\n", &[]).is_none());
    assert!(detect("result.json", b"{\"chats\": []}", &[]).is_none());
}

#[test]
fn a_chat_is_seen_in_an_archive_by_its_names() {
    let (what, confidence) =
        detect("WhatsApp Chat - Family.zip", b"PK", &["_chat.txt", "0001-PHOTO.jpg"]).unwrap();
    assert_eq!(what, "one chat, \"Family\"");
    assert!(confidence > 90);
    let renamed = ["talk.txt", "IMG-20240131-WA0001.jpg"];
    assert!(detect("x.zip", b"PK", &renamed).unwrap().1 < confidence);
    let two = ["Anna/_chat.txt", "Ben/_chat.txt"];
    assert_eq!(detect("x.zip", b"PK", &two).unwrap().0, "2 chats");
    assert!(detect("slack.zip", b"PK", &["channels.json", "users.json"]).is_none());
}

#[test]
fn two_people_are_no_group() {
    let kept = import(NAME, "31/12/2024, 18:30 - Anna: hello\n31/12/2024, 18:31 - Ben: hi\n");
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Direct));
    assert_eq!(kept.facts.chats[0].chat_id, "export:anna");
}

#[test]
fn a_group_is_known_by_what_only_groups_have() {
    let text = "31/12/2024, 18:30 - Anna created group \"Club: 7\"\n31/12/2024, 18:31 - Anna: hi\n";
    let kept = import(NAME, text);
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(kept.senders(), [None, Some("Anna")]);
    assert_eq!(kept.message(0).content, ContentType::Service);
    assert_eq!(kept.message(0).text, "Anna created group \"Club: 7\"");
}

#[test]
fn a_chat_that_begins_later_is_held_from_there() {
    let kept = import(NAME, "31/12/2024, 18:30 - Anna: hello\n31/12/2024, 18:31 - Ben: hi\n");
    assert_eq!(kept.facts.held[0].from.unwrap().to_string(), "2024-12-31T18:30:00Z");
    assert_eq!(kept.facts.held[0].to.to_string(), "2024-12-31T18:31:00Z");
    assert_eq!(kept.facts.held[0].chat_id.as_deref(), Some("export:anna"));
}

#[test]
fn a_telephone_number_is_an_alias() {
    let kept = import(NAME, "31/12/2024, 18:30 - \u{202a}+1 (555) 010-9999\u{202c}: hello\n");
    let person = &kept.facts.people[0];
    assert_eq!(person.person_id, "+15550109999");
    assert_eq!(person.aliases, [Alias::Phone("+15550109999".to_owned())]);
    assert_eq!(person.name, None);
}

#[test]
fn somebody_in_no_address_book_has_a_name_all_the_same() {
    let kept = import(NAME, "31/12/2024, 18:30 - ~\u{202f}Anna: hello\n");
    assert_eq!(kept.facts.people[0].name.as_deref(), Some("Anna"));
}

#[test]
fn the_order_of_day_and_month_is_asked_only_where_nothing_tells_it() {
    let text = "3/4/24, 18:30 - Anna: hello\n3/4/24, 18:31 - Ben: hi\n";
    let error = try_import(NAME, text, &ImportOptions::default()).unwrap_err();
    assert!(
        matches!(&error, ImportError::Undecided(why) if why.contains("--day-order")),
        "{error}"
    );
    for (order, expected) in [
        (DayOrder::DayFirst, "2024-04-03T18:30:00Z"),
        (DayOrder::MonthFirst, "2024-03-04T18:30:00Z"),
    ] {
        let options = ImportOptions { day_order: Some(order), ..ImportOptions::default() };
        let kept = try_import(NAME, text, &options).unwrap();
        assert_eq!(kept.message(0).sent_at.to_string(), expected);
    }
}

#[test]
fn a_single_date_at_the_end_decides_the_whole_file() {
    let mut text = "3/4/24, 18:30 - Anna: hello\n".repeat(2_000);
    text.push_str("3/13/24, 18:30 - Anna: bye\n");
    let kept = import(NAME, &text);
    assert_eq!(kept.message(0).sent_at.to_string(), "2024-03-04T18:30:00Z");
}

#[test]
fn times_are_of_the_zone_that_is_stated() {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let options = ImportOptions { zone, ..ImportOptions::default() };
    let text = "31/03/2024, 01:30 - Anna: a\n31/03/2024, 02:30 - Anna: b\n\
                31/03/2024, 03:30 - Anna: c\n27/10/2024, 02:30 - Anna: d\n\
                27/10/2024, 02:10 - Anna: e\n27/10/2024, 03:00 - Anna: f\n";
    let kept = try_import(NAME, text, &options).unwrap();
    let times: Vec<_> = kept.facts.messages.iter().map(|m| m.sent_at.to_string()).collect();
    assert_eq!(times[0], "2024-03-31T00:30:00Z");
    assert_eq!(times[3], "2024-10-27T00:30:00Z");
    assert_eq!(times[4], "2024-10-27T01:10:00Z");
    assert_eq!(times[5], "2024-10-27T02:00:00Z");
}

#[test]
fn an_id_does_not_depend_on_the_zone() {
    let text = "31/12/2024, 18:30 - Anna: hello\n";
    let zone = TimeZone::fixed(jiff::tz::offset(9));
    let options = ImportOptions { zone, ..ImportOptions::default() };
    let there = try_import(NAME, text, &options).unwrap();
    let here = import(NAME, text);
    assert_eq!(here.ids(), there.ids());
    assert_ne!(here.message(0).sent_at, there.message(0).sent_at);
}

#[test]
fn importing_twice_gives_the_same() {
    let text = "31/12/2024, 18:30 - Anna: ok\n31/12/2024, 18:30 - Anna: ok\n";
    let (first, second) = (import(NAME, text), import(NAME, text));
    assert_eq!(first.facts, second.facts);
    assert_ne!(first.ids()[0], first.ids()[1]);
}

#[test]
fn a_longer_export_begins_with_the_ids_of_the_shorter_one() {
    let short = "31/12/2024, 18:30 - Anna: ok\n31/12/2024, 18:30 - Ben: ok\n";
    let long = format!("{short}31/12/2024, 18:30 - Anna: ok\n1/1/2025, 9:00 - Eve: morning\n")
        .replace("1/1/2025, 9:00", "01/01/2025, 09:00");
    let (short, long) = (import(NAME, short), import("WhatsApp Chat with Anna (1).txt", &long));
    assert_eq!(long.facts.chats[0].chat_id, "export:anna");
    assert_eq!(long.ids()[..2], short.ids());
    assert_eq!(long.facts.messages[..2], short.facts.messages);
}

#[test]
fn an_export_with_files_has_the_ids_of_one_without() {
    let without = "31/12/2024, 18:30 - Anna: <Media omitted>\nlook\n";
    let with = "31/12/2024, 18:30 - Anna: IMG-20241231-WA0001.jpg (file attached)\nlook\n";
    assert_eq!(import(NAME, without).ids(), import(NAME, with).ids());
}

#[test]
fn an_interrupted_import_goes_on_where_it_was() {
    let line = |minute: u32| {
        format!("31/12/2024, {:02}:{:02} - Anna: {minute}\n", minute / 60, minute % 60)
    };
    let text: String = (0..1_300).map(line).collect();
    let whole = import(NAME, &text);
    assert_eq!(whole.takes, [500, 1_000, 1_300]);
    let options = ImportOptions { messages_done: 1_000, ..ImportOptions::default() };
    let rest = try_import(NAME, &text, &options).unwrap();
    assert_eq!(rest.facts.messages, whole.facts.messages[1_000..]);
    assert_eq!(rest.messages, 1_300);
    assert_eq!(rest.facts.held, whole.facts.held);
    assert_eq!(rest.facts.people, whole.facts.people);
}

#[test]
fn lines_that_belong_to_no_message_are_reported() {
    let kept = import(NAME, "\u{feff}some heading\n\n31/12/2024, 18:30 - Anna: hello\n");
    assert_eq!(kept.skipped.len(), 1);
    assert!(kept.skipped[0].place.ends_with("line 1"), "{:?}", kept.skipped);
    assert_eq!(kept.texts(), ["hello"]);
}

#[test]
fn lines_copied_from_another_chat_stay_in_their_message() {
    let text = "31/12/2024, 18:30 - Anna: he wrote:\n[31/12/24, 10:00:00] Ben: no\n\
                31.12.24, 10:01 - Ben: yes\n31/12/2024, 18:31 - Ben: ah\n";
    let kept = import(NAME, text);
    assert_eq!(kept.facts.messages.len(), 2);
    assert!(kept.message(0).text.ends_with("Ben: yes"));
}

#[test]
fn files_of_other_encodings_are_read() {
    let text = "\u{feff}31/12/2024, 18:30 - Jörg: grüße 𝄞\r\n31/12/2024, 18:31 - Ben: hi\r\n";
    let place = Place::new();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = place.write(NAME, &utf16);
    let kept = try_read(&path, &ImportOptions::default()).unwrap();
    assert_eq!(kept.texts(), ["grüße 𝄞", "hi"]);
    assert_eq!(kept.facts.messages, import(NAME, text).facts.messages);
}

#[test]
fn progress_ends_where_there_is_nothing_left() {
    let text = format!("31/12/2024, 18:30 - Anna: {}\n", "x".repeat(1_000)).repeat(3_000);
    let kept = import(NAME, &text);
    let last = kept.progress.last().unwrap();
    assert_eq!(last.bytes_done, last.bytes_total);
    assert_eq!(last.bytes_total, 2 * text.len() as u64);
    assert!(kept.progress.len() >= 4);
    assert!(kept.progress.windows(2).all(|pair| pair[0].bytes_done <= pair[1].bytes_done));
}

#[test]
fn what_is_no_chat_is_refused_with_words() {
    let error = try_import(NAME, "hello\n", &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, ImportError::Malformed { .. }), "{error}");
    let missing = try_read("/nowhere/at all.txt".as_ref(), &ImportOptions::default()).unwrap_err();
    assert!(matches!(missing, ImportError::Read { .. }), "{missing}");
}

#[test]
fn a_chat_without_a_name_must_be_given_one() {
    let text = "31/12/2024, 18:30 - Anna: hello\n";
    let error = try_import("_chat.txt", text, &ImportOptions::default()).unwrap_err();
    assert!(
        matches!(&error, ImportError::Undecided(why) if why.contains("--chat-name")),
        "{error}"
    );
    let options =
        ImportOptions { chat_name: Some("Anna Bell".to_owned()), ..ImportOptions::default() };
    let kept = try_import("_chat.txt", text, &options).unwrap();
    assert_eq!(kept.facts.chats[0].chat_id, "export:anna bell");
}

#[test]
fn an_iphone_says_the_name_of_the_chat_in_its_first_line() {
    let text = "[31/12/2024, 18:30:00] Family: \u{200e}Messages and calls are end-to-end encrypted.\n\
                [31/12/2024, 18:30:01] Family: \u{200e}Anna created this group\n\
                [31/12/2024, 18:30:02] Anna: hello\n\u{200e}[31/12/2024, 18:30:03] Ben: \u{200e}image omitted\n";
    let kept = import("_chat.txt", text);
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("Family"));
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(kept.senders(), [None, None, Some("Anna"), Some("Ben")]);
    assert_eq!(kept.facts.held[0].from, None);
}

#[test]
fn a_direct_chat_of_an_iphone_keeps_its_person() {
    let text = "[31/12/2024, 18:30:00] Anna: \u{200e}Messages and calls are end-to-end encrypted.\n\
                [31/12/2024, 18:30:02] Anna: hello\n[31/12/2024, 18:30:03] Ben: hi\n\
                [31/12/2024, 18:30:04] Anna: \u{200e}Missed voice call. \u{200e}Tap to call back\n";
    let kept = import("_chat.txt", text);
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Direct));
    assert_eq!(kept.senders(), [None, Some("Anna"), Some("Ben"), Some("Anna")]);
    assert_eq!(kept.message(3).content, ContentType::Call);
}

#[test]
fn an_older_iphone_does_not_mark_its_notices() {
    let text = "[31.12.2019, 12.00.00] John, Jane: Messages to this group are now secured with \
                end-to-end encryption.\n[31.12.2019, 12.00.00] You created group \"John: Jane\"\n\
                [31.12.2019, 12.00.01] Jane Doe: hello\n";
    let kept = import("_chat.txt", text);
    assert_eq!(kept.facts.chats[0].name.as_deref(), Some("John, Jane"));
    assert_eq!(kept.facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(kept.senders(), [None, None, Some("Jane Doe")]);
    assert_eq!(kept.facts.held[0].from, None);
}

#[test]
fn exports_of_the_first_iphones_are_read() {
    let text = "24/3/14, 13:59:58: Anna: a - b\n24/3/14, 13:59:59: Ben: 14:00: lunch\nand tea\n";
    let kept = import(NAME, text);
    assert_eq!(kept.texts(), ["a - b", "14:00: lunch\nand tea"]);
    assert_eq!(kept.senders(), [Some("Anna"), Some("Ben")]);
    assert_eq!(kept.message(0).sent_at.to_string(), "2014-03-24T13:59:58Z");
}

#[test]
fn a_message_longer_than_any_is_cut_and_reported() {
    let text =
        format!("31/12/2024, 18:30 - Anna: a\n{}", format!("{}\n", "x".repeat(100_000)).repeat(4));
    let kept = import(NAME, &text);
    assert_eq!(kept.facts.messages.len(), 1);
    assert!(kept.message(0).text.len() <= protocol::limits::MESSAGE_BODY_BYTES_MAX);
    assert_eq!(kept.skipped.len(), 2);
}
