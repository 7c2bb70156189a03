//! Updates in the shapes of the Bot API's documentation, and what becomes of them.

use proptest::prelude::*;
use protocol::Timestamp;
use protocol::chat::{Alias, ChatType, ContentType, Facts, MessageFact, PersonFact};
use serde_json::Value;

use crate::telegram::translate;

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);
const UPDATES: &str = include_str!("../fixtures/updates.json");

fn facts(name: &str) -> Facts {
    let updates: Value = serde_json::from_str(UPDATES).unwrap();
    translate::update(&updates[name], "123456", NOW)
}

fn message(name: &str) -> MessageFact {
    facts(name).messages.pop().unwrap_or_else(|| panic!("{name} brings no message"))
}

#[test]
fn every_sort_of_message_has_its_content_and_words() {
    let expected = [
        ("photo", ContentType::Image, "look"),
        ("video", ContentType::Video, ""),
        ("animation", ContentType::Video, ""),
        ("audio", ContentType::Audio, "The Band – Song"),
        ("voice", ContentType::Voice, ""),
        ("video note", ContentType::Video, ""),
        ("document", ContentType::File, ""),
        ("sticker", ContentType::Sticker, "👍"),
        ("contact", ContentType::Contact, "Dee +4915112345678"),
        ("location", ContentType::Location, "52.5, 13.4"),
        ("venue", ContentType::Location, "Café, Main St 1"),
        ("poll", ContentType::Poll, "When?\n- Today (2)\n- Later"),
        ("dice", ContentType::Other, "🎯 6"),
        ("game", ContentType::Other, "Chess: A game"),
        ("invoice", ContentType::Other, "Mug: Blue [1250 EUR, smallest unit]"),
        ("checklist", ContentType::Other, "Trip\n- [x] Pack\n- [ ] Go"),
        ("joined", ContentType::Service, "Bo joined"),
        ("added", ContentType::Service, "Bo added Di, Robo"),
        ("left", ContentType::Service, "Di left"),
        ("title", ContentType::Service, "Bo changed the title to “New”"),
        ("pinned", ContentType::Service, "Bo pinned a message: the rules…"),
        ("migrated", ContentType::Service, "the group became a supergroup"),
        ("migrated here", ContentType::Service, "the group became this supergroup"),
        ("group created", ContentType::Service, "Bo created the group"),
        ("video chat", ContentType::Service, "the video chat ended after 61 s"),
        ("topic", ContentType::Service, "Bo created the topic “Help”"),
        ("boost", ContentType::Service, "Bo boosted the chat 2 times"),
        ("unknown", ContentType::Other, ""),
        ("bot added", ContentType::Service, "Bo added Fake"),
        ("join request", ContentType::Service, "Flo asked to join"),
        ("new kind of message", ContentType::Text, "@fake_bot hi"),
        ("new kind of update", ContentType::Other, ""),
    ];
    for (name, content, text) in expected {
        let message = message(name);
        assert_eq!((message.content, message.text.as_str()), (content, text), "{name}");
    }
}

#[test]
fn a_hidden_address_is_shown_behind_its_words() {
    let message = message("text with a hidden link");
    assert_eq!(message.text, "😀 read this (https://example.org/a) now");
}

#[test]
fn a_message_names_its_chat_its_sender_and_its_time() {
    let facts = facts("text with a hidden link");
    let message = &facts.messages[0];
    assert_eq!(message.chat_id, "-1001234567890");
    assert_eq!(message.message_id, "10");
    assert_eq!(message.sent_at, Timestamp::from_ms(1_700_000_000_000));
    assert_eq!(message.sender_id.as_deref(), Some("6123456789"));
    assert_eq!(facts.chats[0].name.as_deref(), Some("Team 🚀"));
    assert_eq!(facts.chats[0].chat_type, Some(ChatType::Group));
    let ann = PersonFact {
        person_id: "6123456789".to_owned(),
        name: Some("Ann Lee".to_owned()),
        aliases: vec![Alias::Username("annlee".to_owned())],
        is_self: false,
    };
    assert_eq!(facts.people, [ann]);
}

#[test]
fn the_first_message_of_a_topic_is_no_reply() {
    let message = message("text with a hidden link");
    assert_eq!((message.topic.as_deref(), message.reply_to), (Some("4"), None));
}

#[test]
fn a_reply_names_what_it_answers() {
    let message = message("reply");
    assert_eq!(message.reply_to.as_deref(), Some("10"));
    assert_eq!(message.extra["quote"], "this");
}

#[test]
fn a_forward_names_whose_words_these_were() {
    assert_eq!(message("forward").forwarded_from.as_deref(), Some("Daily"));
    assert_eq!(message("hidden forward").forwarded_from.as_deref(), Some("Somebody Else"));
}

#[test]
fn the_largest_picture_is_the_attachment() {
    let photo = message("photo");
    assert_eq!(photo.attachments[0].remote_id.as_deref(), Some("large"));
    assert_eq!(photo.attachments[0].bytes, Some(120_000));
    assert_eq!(photo.extra["media_group_id"], "77");
}

#[test]
fn a_file_has_its_name_type_and_size() {
    let document = message("document").attachments.remove(0);
    assert_eq!(document.name.as_deref(), Some("plan.pdf"));
    assert_eq!(document.mime_type.as_deref(), Some("application/pdf"));
    assert_eq!(document.bytes, Some(8_000_000_000));
}

#[test]
fn a_group_that_became_a_supergroup_keeps_its_past() {
    for name in ["migrated", "migrated here"] {
        let chats = facts(name).chats;
        let became = chats.iter().find(|chat| !chat.former_ids.is_empty()).unwrap();
        assert_eq!(became.chat_id, "-1009876543210", "{name}");
        assert_eq!(became.former_ids, ["-555"], "{name}");
    }
}

#[test]
fn ids_of_a_small_group_are_not_taken_for_those_of_its_supergroup() {
    assert_eq!(message("migrated").message_id, "g35");
    assert_eq!(message("migrated here").message_id, "1");
}

#[test]
fn a_chat_that_speaks_is_the_sender() {
    assert_eq!(message("migrated here").sender_id.as_deref(), Some("-1009876543210"));
    let post = message("channel post");
    assert_eq!(post.sender_id.as_deref(), Some("-1002000000001"));
    assert_eq!(post.extra["author_signature"], "Ed");
}

#[test]
fn what_is_not_known_is_kept_as_it_came() {
    let unknown = message("unknown");
    assert_eq!(unknown.extra["kind"], "hologram");
    assert_eq!(unknown.extra["value"]["depth"], 3);
    let update = message("new kind of update");
    assert_eq!(update.message_id, "u42");
    assert_eq!(update.extra["kind"], "chat_weather");
}

#[test]
fn an_edit_carries_the_message_as_it_is_now() {
    let edits = facts("edit").edits;
    assert_eq!(edits[0].message.text, "changed");
    assert_eq!(edits[0].message.edited_at, Some(Timestamp::from_ms(1_700_000_100_000)));
}

#[test]
fn reactions_are_the_difference_between_before_and_after() {
    let reactions = facts("reaction").reactions;
    let seen: Vec<(&str, bool)> =
        reactions.iter().map(|reaction| (reaction.emoji.as_str(), reaction.is_removed)).collect();
    assert_eq!(seen, [("👍", true), ("custom:5368324170671202286", false)]);
    assert!(reactions.iter().all(|reaction| reaction.person_id == "7"));
}

#[test]
fn anonymous_reactions_are_counted() {
    let tallies = facts("reaction count").tallies;
    assert_eq!(tallies[0].message_id, "40");
    let counts: Vec<(&str, u32)> =
        tallies[0].reactions.iter().map(|sign| (sign.emoji.as_str(), sign.count)).collect();
    assert_eq!(counts, [("👍", 12), ("paid", 1)]);
}

#[test]
fn a_business_chat_is_not_the_bots_own_chat_with_the_same_person() {
    assert_eq!(message("business").chat_id, "personal:42");
    assert_eq!(message("forward").chat_id, "42");
}

#[test]
fn business_deletions_name_their_messages() {
    let deletions = facts("business deletion").deletions;
    let ids: Vec<&str> = deletions.iter().map(|deletion| deletion.message_id.as_str()).collect();
    assert_eq!(ids, ["57", "58"]);
    assert!(deletions.iter().all(|deletion| deletion.at == NOW));
}

#[test]
fn the_bot_itself_is_known_as_such() {
    let people = facts("bot added").people;
    assert!(people.iter().any(|person| person.person_id == "123456" && person.is_self));
}

#[test]
fn an_update_without_a_chat_brings_nothing() {
    assert!(facts("no chat").is_empty());
}

#[test]
fn the_same_update_means_the_same_twice() {
    let updates: Value = serde_json::from_str(UPDATES).unwrap();
    for (name, update) in updates.as_object().unwrap() {
        let once = translate::update(update, "123456", NOW);
        assert_eq!(once, translate::update(update, "123456", NOW), "{name}");
    }
}

/// A value somewhere in an update is replaced by another.
fn replaced(value: &mut Value, at: &mut usize, by: &Value) {
    if *at == 0 {
        *value = by.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|inner| replaced(inner, at, by)),
        Value::Object(map) => map.values_mut().for_each(|inner| replaced(inner, at, by)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_strange_update_never_panics(at in 0_usize..900, choice in 0_usize..8) {
        let strange = [
            Value::Null, Value::Bool(true), serde_json::json!(-1), serde_json::json!(i64::MAX),
            serde_json::json!(1.5e300), serde_json::json!(""), serde_json::json!([]),
            serde_json::json!({ "id": {} }),
        ];
        let mut updates: Value = serde_json::from_str(UPDATES).unwrap();
        replaced(&mut updates, &mut at.clone(), &strange[choice]);
        for update in updates.as_object().into_iter().flat_map(|map| map.values()) {
            translate::update(update, "123456", NOW);
        }
    }
}
