//! Exports of Telegram Desktop, in the shapes of its writer.

use std::path::{Path, PathBuf};

use connector_api::{ImportError, ImportOptions, Importer, Probe};
use jiff::tz::TimeZone;
use protocol::Timestamp;
use protocol::chat::{Alias, ChatType, ContentType, Facts, HeldFact, MessageFact};
use tempfile::TempDir;

use super::collect::Imported;
use crate::telegram::TelegramExport;

pub(super) const SINGLE: &str = include_str!("../fixtures/export_single.json");
pub(super) const FULL: &str = include_str!("../fixtures/export_full.json");
pub(super) const OLD: &str = include_str!("../fixtures/export_old.json");

pub(super) fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

pub(super) fn read_with(
    bytes: &[u8],
    options: &ImportOptions,
) -> (Imported, Result<(), ImportError>) {
    let (_folder, path) = file(bytes);
    let mut imported = Imported::default();
    let result = TelegramExport.read(&path, options, &mut imported);
    (imported, result)
}

fn read(text: &str) -> Imported {
    let (imported, result) = read_with(text.as_bytes(), &ImportOptions::default());
    result.unwrap();
    imported
}

fn message(facts: &Facts, id: &str) -> MessageFact {
    facts.messages.iter().find(|message| message.message_id == id).unwrap().clone()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(seconds * 1000)
}

#[test]
fn every_sort_of_message_has_its_content_and_words() {
    let imported = read(SINGLE);
    assert_eq!(imported.skipped, []);
    let facts = imported.facts();
    let expected = [
        ("1", ContentType::Service, "Ann Lee created “Team”"),
        ("2", ContentType::Text, "read this (https://example.org/a) now https://example.org"),
        ("3", ContentType::Image, "look"),
        ("4", ContentType::File, ""),
        ("5", ContentType::Voice, ""),
        ("6", ContentType::Sticker, "😴"),
        ("7", ContentType::Contact, "Dee +49 151 12345678"),
        ("8", ContentType::Location, "Café, Main St 1"),
        ("9", ContentType::Poll, "When?\n- Today (2) ✓\n- Later"),
        ("10", ContentType::Other, ""),
        ("11", ContentType::Service, "Ann Lee added Di, a deleted account"),
        ("12", ContentType::Service, "Di left"),
        ("13", ContentType::Service, "Bo pinned a message"),
        ("14", ContentType::Call, "call, 34 s"),
        ("15", ContentType::Service, "Bo: teleported somewhere"),
        ("16", ContentType::Service, "Bo created the topic “Help”"),
        ("17", ContentType::Text, "in a topic"),
        ("18", ContentType::Text, "across"),
        ("19", ContentType::Other, ""),
        ("20", ContentType::Service, "data of a web app was sent: button"),
    ];
    assert_eq!(facts.messages.len(), expected.len());
    for (id, content, text) in expected {
        let message = message(&facts, id);
        assert_eq!((message.content, message.text.as_str()), (content, text), "{id}");
    }
}

#[test]
fn a_supergroup_and_its_messages_are_named_as_a_bot_names_them() {
    let facts = read(SINGLE).facts();
    assert_eq!(facts.chats.len(), 1);
    assert_eq!(facts.chats[0].chat_id, "-1001234567890");
    assert_eq!(facts.chats[0].chat_type, Some(ChatType::Group));
    assert_eq!(facts.chats[0].name.as_deref(), Some("Team \"Blue\" 🚀"));
    let message = message(&facts, "2");
    assert_eq!(message.chat_id, "-1001234567890");
    assert_eq!(message.sender_id.as_deref(), Some("6123456789"));
    assert_eq!(message.sent_at, at(1_700_000_001));
    assert_eq!(message.edited_at, Some(at(1_700_000_100)));
}

#[test]
fn reactions_come_with_their_message() {
    let reactions = message(&read(SINGLE).facts(), "2").reactions;
    let seen: Vec<(&str, u32, usize)> =
        reactions.iter().map(|sign| (sign.emoji.as_str(), sign.count, sign.by.len())).collect();
    assert_eq!(seen, [("👍", 2, 1), ("custom:stickers/x.tgs", 1, 0), ("paid", 3, 0)]);
    assert_eq!(reactions[0].by, ["7"]);
}

#[test]
fn replies_topics_and_forwards_are_kept() {
    let facts = read(SINGLE).facts();
    let reply = message(&facts, "3");
    assert_eq!(reply.reply_to.as_deref(), Some("2"));
    assert_eq!(reply.forwarded_from.as_deref(), Some("Daily"));
    assert_eq!((reply.sender_id.as_deref(), reply.sender_name), (Some("8"), None));
    let in_topic = message(&facts, "17");
    assert_eq!((in_topic.topic.as_deref(), in_topic.reply_to), (Some("16"), None));
    assert_eq!(in_topic.sender_id.as_deref(), Some("-1001234567890"));
    let across = message(&facts, "18");
    assert_eq!(across.reply_to, None);
    assert_eq!(across.extra["reply_to_other_chat"], "-1000000000099/5");
}

#[test]
fn attachments_are_named_though_the_files_are_not_there() {
    let facts = read(SINGLE).facts();
    let photo = message(&facts, "3");
    let name = photo.attachments[0].name.as_deref();
    assert_eq!(name, Some("photo_1@14-11-2023_23-13-22.jpg"));
    assert_eq!(photo.attachments[0].bytes, Some(120_000));
    let document = message(&facts, "4");
    assert_eq!(document.attachments[0].name.as_deref(), Some("plan.pdf"));
    assert_eq!(document.attachments[0].bytes, Some(8_000_000_000));
    assert!(!document.extra.contains_key("file"));
    assert_eq!(message(&facts, "5").attachments[0].seconds, Some(3));
}

#[test]
fn what_is_not_supported_stands_where_it_stood() {
    let facts = read(SINGLE).facts();
    let unsupported = message(&facts, "10");
    assert_eq!(unsupported.extra["kind"], "unsupported");
    assert_eq!(unsupported.sent_at, at(1_700_000_008));
    assert_eq!(message(&facts, "19").extra["kind"], "hologram");
}

#[test]
fn an_export_from_the_chats_creation_is_whole_from_its_beginning() {
    let held =
        HeldFact { chat_id: Some("-1001234567890".to_owned()), from: None, to: at(1_700_000_019) };
    assert_eq!(read(SINGLE).facts().held, [held]);
}

#[test]
fn everything_of_an_account_is_read() {
    let imported = read(FULL);
    assert_eq!(imported.skipped, []);
    let facts = imported.facts();
    let chats: Vec<(&str, &str)> = facts
        .chats
        .iter()
        .map(|chat| (chat.chat_id.as_str(), chat.name.as_deref().unwrap_or_default()))
        .collect();
    let expected = [
        ("personal:42", "Cy"),
        ("personal:99", "Saved Messages"),
        ("-555", "Small"),
        ("-1000000000777", "Only mine"),
        ("-1002000000001", "Daily"),
    ];
    assert_eq!(chats, expected);
    assert_eq!(facts.messages.len(), 7);
    assert_eq!(imported.done(), 7);
}

#[test]
fn the_owner_and_the_contacts_are_known_by_their_numbers() {
    let people = read(FULL).facts().people;
    let owner = people.iter().find(|person| person.is_self).unwrap();
    assert_eq!(owner.person_id, "99");
    let aliases = [Alias::Username("owner".to_owned()), Alias::Phone("+491701112223".to_owned())];
    assert_eq!(owner.aliases, aliases);
    let cy = people.iter().find(|person| person.person_id == "42").unwrap();
    assert_eq!(cy.aliases, [Alias::Phone("+4915112345678".to_owned())]);
}

#[test]
fn messages_of_a_small_group_are_marked_as_of_another_count() {
    let facts = read(FULL).facts();
    let hello = message(&facts, "-999999942");
    assert_eq!(hello.chat_id, "-555");
    assert_eq!(hello.reply_to.as_deref(), Some("-999999943"));
}

#[test]
fn only_what_an_export_holds_whole_is_claimed() {
    let held = read(FULL).facts().held;
    let claimed: Vec<(&str, bool)> =
        held.iter().map(|held| (held.chat_id.as_deref().unwrap(), held.from.is_none())).collect();
    // Of "Only mine" there may be much more that others said.
    let expected =
        [("personal:42", false), ("personal:99", false), ("-555", true), ("-1002000000001", false)];
    assert_eq!(claimed, expected);
}

#[test]
fn an_old_export_has_numbers_for_people_and_the_wall_clock_for_time() {
    let zone = TimeZone::get("UTC").unwrap_or(TimeZone::UTC);
    let options = ImportOptions { zone, ..ImportOptions::default() };
    let (imported, result) = read_with(OLD.as_bytes(), &options);
    result.unwrap();
    assert_eq!(imported.skipped, []);
    let messages = imported.facts().messages;
    assert_eq!(messages[0].sender_id.as_deref(), Some("7"));
    assert_eq!(messages[1].sender_id.as_deref(), Some("94435633"));
    assert_eq!(messages[0].sent_at, "2016-04-24T20:13:31Z".parse().unwrap());
    assert_eq!(messages[0].edited_at, None);
    assert_eq!(messages[0].text, "/start");
    assert_eq!(messages[1].text, "control \u{b} character");
}

#[test]
fn the_wall_clock_is_read_in_the_zone_that_was_given() {
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let options = ImportOptions { zone, ..ImportOptions::default() };
    let (imported, _) = read_with(OLD.as_bytes(), &options);
    let sent_at = imported.facts().messages[0].sent_at;
    assert_eq!(sent_at, "2016-04-24T18:13:31Z".parse().unwrap());
}

#[test]
fn a_bad_message_is_skipped_with_its_place_and_the_rest_goes_on() {
    let text = r#"{"name": "N", "type": "personal_chat", "id": 5, "messages": [
        {"id": 1, "type": "message", "date_unixtime": "1700000000", "text": "a"},
        {"id": {}, "type": "message", "date_unixtime": "1700000001", "text": "secret"},
        "secret", 7, null, [1],
        {"id": 3, "type": "message", "text": "secret"},
        {"id": 4, "type": "message", "date_unixtime": 1700000003, "text": "unquoted time",
         "reactions": 5, "from": ["odd"], "file_size": "big", "members": {}},
        {"id": 5, "type": "message", "date_unixtime": "1700000004", "text": "b" "secret"},
        {"id": "6", "type": "message", "date_unixtime": "1700000005", "text": "c"}
    ]}"#;
    let imported = read(text);
    let texts: Vec<String> =
        imported.facts().messages.into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["a", "unquoted time", "c"]);
    let places: Vec<&str> = imported.skipped.iter().map(|skipped| skipped.place.as_str()).collect();
    let expected = [1, 2, 3, 4, 5, 6, 8].map(|index| format!("messages[{index}]"));
    assert_eq!(places, expected);
    assert!(imported.skipped.iter().all(|skipped| !skipped.reason.contains("secret")));
    assert_eq!(imported.done(), 10);
    // What stands around a message that was left out is whole, but not across it.
    let held: Vec<(Option<Timestamp>, Timestamp)> =
        imported.facts().held.into_iter().map(|held| (held.from, held.to)).collect();
    let whole =
        [1_700_000_000, 1_700_000_003, 1_700_000_005].map(|time| (Some(at(time)), at(time)));
    assert_eq!(held, whole);
}

#[test]
fn a_cut_file_gives_what_stands_before_the_cut() {
    let end = SINGLE.find("\"id\": 9").unwrap();
    let (imported, result) = read_with(&SINGLE.as_bytes()[..end], &ImportOptions::default());
    let facts = imported.facts();
    assert_eq!(facts.messages.len(), 8);
    assert_eq!(facts.held[0].to, at(1_700_000_007));
    match result {
        Err(ImportError::Malformed { place, .. }) => assert_eq!(place, "line 65, column 4"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_something_else_is_malformed_at_its_place() {
    for (text, place) in [
        ("[]", "line 1, column 1"),
        ("{\"a\" 1}", "line 1, column 6"),
        ("{\n 1", "line 2, column 2"),
    ] {
        let (_, result) = read_with(text.as_bytes(), &ImportOptions::default());
        match result {
            Err(ImportError::Malformed { place: found, .. }) => assert_eq!(found, place, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn the_messages_may_stand_before_the_chats_type() {
    let text = r#"{"id": 1234567890, "messages": [
        {"date_unixtime": "1700000000", "from_id": "user7", "id": 2, "text": "a", "type": "message"}
    ], "name": "Sorted", "type": "public_supergroup"}"#;
    let facts = read(text).facts();
    assert_eq!(facts.messages[0].chat_id, "-1001234567890");
    assert_eq!(facts.chats[0].name.as_deref(), Some("Sorted"));
}

#[test]
fn a_chat_without_an_id_is_known_by_its_name() {
    let text = r#"{"name": "First", "type": "personal_chat", "messages": [
        {"id": 2, "type": "message", "date_unixtime": "1700000000", "text": "a"}]}"#;
    assert_eq!(read(text).facts().messages[0].chat_id, "named:First");
    let nameless = text.replace("\"name\": \"First\", ", "");
    assert_eq!(read(&nameless).skipped[0].place, "messages");
    let options = ImportOptions { chat_name: Some("Given".to_owned()), ..ImportOptions::default() };
    let (imported, _) = read_with(nameless.as_bytes(), &options);
    assert_eq!(imported.facts().chats[0].chat_id, "named:Given");
}

fn detected(name: &str, head: &str) -> Option<(u8, String)> {
    let probe = Probe { path: Path::new(name), head: head.as_bytes(), names: &[] };
    TelegramExport.detect(&probe).map(|found| (found.confidence, found.what))
}

#[test]
fn exports_are_told_from_other_files() {
    let single = detected("x.json", SINGLE).unwrap();
    assert_eq!(single, (95, "one chat, \"Team \"Blue\" 🚀\"".to_owned()));
    assert_eq!(detected("x.json", FULL).unwrap().0, 95);
    assert_eq!(detected("x.json", OLD).unwrap().0, 95);
    assert_eq!(detected("x.json", &format!("\u{feff}\n {OLD}")).unwrap().0, 95);
    for other in ["", "[1]", "{\"messages\": []}", "31/12/2020, 10:00 - Ann: hi", "PK\u{3}\u{4}"] {
        assert_eq!(detected("x.json", other), None, "{other}");
    }
}

#[test]
fn a_folder_with_an_export_is_read() {
    let (folder, _) = file(SINGLE.as_bytes());
    let names = ["photos/a.jpg".to_owned(), "result.json".to_owned()];
    let probe = Probe { path: folder.path(), head: &[], names: &names };
    assert!(TelegramExport.detect(&probe).is_some());
    let empty = Probe { path: folder.path(), head: &[], names: &names[..1] };
    assert!(TelegramExport.detect(&empty).is_none());
    let mut imported = Imported::default();
    TelegramExport.read(folder.path(), &ImportOptions::default(), &mut imported).unwrap();
    assert_eq!(imported.facts().messages.len(), 20);
}

#[test]
fn progress_ends_at_the_last_byte() {
    let imported = read(SINGLE);
    let last = imported.progress.last().unwrap();
    assert_eq!(last.bytes_done, SINGLE.len() as u64);
    assert_eq!(last.bytes_total, SINGLE.len() as u64);
}
