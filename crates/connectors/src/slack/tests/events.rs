//! Every kind of event, in the documented shapes, becomes facts.

use protocol::chat::{Alias, ChatFact, ChatType, ContentType, Facts, MessageFact, PersonFact};
use serde_json::{Value, json};

use super::fixtures;
use crate::slack::event;
use crate::slack::names::Names;

fn names() -> Names {
    let mut names = Names::default();
    let person = |id: &str, name: &str| PersonFact {
        person_id: id.to_owned(),
        name: Some(name.to_owned()),
        ..PersonFact::default()
    };
    names.learn(&Facts {
        people: vec![person("U1", "Anna"), person("U2", "Bob")],
        chats: vec![ChatFact {
            chat_id: "C1".to_owned(),
            name: Some("general".to_owned()),
            ..ChatFact::default()
        }],
        ..Facts::default()
    });
    names
}

fn facts(event: &Value) -> Facts {
    let callback = json!({"event": event, "authorizations": [{"user_id": "U0BOT"}]});
    event::facts(&callback, &names())
}

/// The fact of the fixture at this `ts`.
fn message(ts: &str) -> MessageFact {
    let event = fixtures().into_iter().find(|event| event["ts"] == ts).unwrap();
    facts(&event).messages.into_iter().next().unwrap()
}

#[test]
fn a_text_is_rendered_and_its_mentions_are_kept() {
    let said = message("1771329600.000100");
    assert_eq!(said.text, "hello @Bob, see the plan (https://a.example) & more");
    assert_eq!(said.chat_id, "C1");
    assert_eq!(said.message_id, "1771329600.000100");
    assert_eq!(said.sent_at.as_ms(), 1_771_329_600_000);
    assert_eq!(said.sender_id.as_deref(), Some("U1"));
    assert_eq!(said.content, ContentType::Text);
    assert_eq!(said.extra.get("mentions"), Some(&json!(["U2"])));
    assert_eq!((said.topic, said.reply_to), (None, None));
}

#[test]
fn a_reply_names_its_thread() {
    for ts in ["1771329601.000200", "1771329602.000300"] {
        let said = message(ts);
        assert_eq!(said.topic.as_deref(), Some("1771329600.000100"));
        assert_eq!(said.reply_to.as_deref(), Some("1771329600.000100"));
        assert_eq!(said.content, ContentType::Text);
    }
    assert_eq!(message("1771329601.000200").text, "in a thread 👍");
}

#[test]
fn a_bot_without_text_speaks_through_its_attachments() {
    let said = message("1771329603.000400");
    assert_eq!(said.text, "CPU high (https://grafana.example/d/1)\nhost *web-1*\nLoad: 17");
    assert_eq!(said.sender_id.as_deref(), Some("B7"));
    assert_eq!(said.sender_name.as_deref(), Some("alerts"));
}

#[test]
fn blocks_that_an_app_built_are_read_beside_its_text() {
    let said = message("1771329604.000500");
    assert_eq!(
        said.text,
        "Deploy finished\nDeploy\nbuild #7 (https://ci.example/7) by @Anna\n*env*\nprod\n\
         took 3m green"
    );
    assert_eq!(said.sender_id.as_deref(), Some("U9"));
    assert_eq!(said.sender_name.as_deref(), Some("deployer"));
    assert_eq!(said.extra.get("bot_id"), Some(&json!("B9")));
}

#[test]
fn a_message_of_blocks_alone_has_words() {
    let said = message("1771329605.000600");
    assert_eq!(said.text, "• one :tada:\n• #general@here\nlet x = a < b;");
}

#[test]
fn files_hang_on_their_message() {
    let said = message("1771329606.000700");
    assert_eq!((said.content, said.text.as_str()), (ContentType::Image, "the photo"));
    let [cat, gone] = said.attachments.as_slice() else { panic!("two files") };
    assert_eq!(cat.remote_id.as_deref(), Some("F1"));
    assert_eq!(cat.name.as_deref(), Some("cat.png"));
    assert_eq!(cat.mime_type.as_deref(), Some("image/png"));
    assert_eq!(cat.bytes, Some(48_213));
    assert_eq!(gone.remote_id, None);
    let voice = message("1771329607.000800");
    assert_eq!(voice.content, ContentType::Voice);
    assert_eq!(voice.attachments.first().unwrap().seconds, Some(4));
}

#[test]
fn the_service_s_own_words_are_service_messages() {
    let joined = message("1771329609.001000");
    assert_eq!(joined.content, ContentType::Service);
    assert_eq!(joined.text, "@Bob has joined the channel");
    assert_eq!(joined.extra.get("subtype"), Some(&json!("channel_join")));
    assert_eq!(message("1771329626.002700").content, ContentType::Call);
    assert_eq!(message("1771329608.000900").content, ContentType::Text);
}

#[test]
fn a_kind_nobody_knows_does_not_vanish() {
    let said = message("1771329624.002500");
    assert_eq!(said.content, ContentType::Other);
    assert_eq!(said.text, "a hologram");
    assert_eq!(said.extra.get("subtype"), Some(&json!("something_new_in_2031")));
}

#[test]
fn a_shared_message_says_whose_it_was() {
    let said = message("1771329625.002600");
    assert_eq!(said.text, "the decision");
    assert_eq!(said.forwarded_from.as_deref(), Some("Bob"));
}

#[test]
fn a_message_tells_the_sort_of_its_chat() {
    let sort = |ts: &str| {
        let event = fixtures().into_iter().find(|event| event["ts"] == ts).unwrap();
        facts(&event).chats.first().unwrap().chat_type.unwrap()
    };
    assert_eq!(sort("1771329600.000100"), ChatType::Channel);
    assert_eq!(sort("1771329604.000500"), ChatType::Channel);
    assert_eq!(sort("1771329605.000600"), ChatType::Direct);
    assert_eq!(sort("1771329625.002600"), ChatType::Group);
}

#[test]
fn a_renamed_channel_is_renamed() {
    let event = fixtures().into_iter().find(|event| event["subtype"] == "channel_name").unwrap();
    let facts = facts(&event);
    assert_eq!(facts.chats.first().unwrap().name.as_deref(), Some("plans"));
    assert_eq!(facts.messages.len(), 1);
}

/// The facts of all fixtures of a kind.
fn of_kind(kind: &str) -> Vec<Facts> {
    fixtures()
        .iter()
        .filter(|event| event["subtype"] == kind || event["type"] == kind)
        .map(facts)
        .collect()
}

#[test]
fn a_change_is_an_edit_unless_nobody_made_it() {
    let [edited, preview, deleted] = of_kind("message_changed").try_into().unwrap();
    let [edit] = edited.edits.as_slice() else { panic!("one edit") };
    assert_eq!(edit.message.text, "hello everybody");
    assert_eq!(edit.message.message_id, "1771329600.000100");
    assert_eq!(edit.message.edited_at.unwrap().as_ms(), 1_771_329_611_000);
    assert!(edited.messages.is_empty());
    assert!(preview.is_empty());
    assert_eq!(deleted.deletions.first().unwrap().message_id, "1771329600.000100");
    assert!(deleted.edits.is_empty());
}

#[test]
fn a_deletion_names_what_was_deleted() {
    let [facts] = of_kind("message_deleted").try_into().unwrap();
    let [deletion] = facts.deletions.as_slice() else { panic!("one deletion") };
    assert_eq!(deletion.message_id, "1771329601.000200");
    assert_eq!(deletion.at.as_ms(), 1_771_329_613_001);
    assert!(of_kind("message_replied").iter().all(Facts::is_empty));
}

#[test]
fn reactions_are_put_on_and_taken_off() {
    let [added, on_a_file] = of_kind("reaction_added").try_into().unwrap();
    let reaction = added.reactions.first().unwrap();
    assert_eq!((reaction.emoji.as_str(), reaction.is_removed), ("thumbsup::skin-tone-3", false));
    assert_eq!((reaction.chat_id.as_str(), reaction.person_id.as_str()), ("C1", "U2"));
    assert!(on_a_file.is_empty());
    let [removed] = of_kind("reaction_removed").try_into().unwrap();
    assert!(removed.reactions.first().unwrap().is_removed);
}

#[test]
fn chats_are_told_of_where_the_link_takes_part() {
    let [ours, not_ours] = of_kind("channel_rename").try_into().unwrap();
    assert_eq!(ours.chats.first().unwrap().name.as_deref(), Some("plans"));
    assert!(not_ours.is_empty());
    let [own, somebody] = of_kind("member_joined_channel").try_into().unwrap();
    assert_eq!(own.chats.first().unwrap().chat_id, "C5");
    assert!(somebody.is_empty());
    assert!(of_kind("channel_created").iter().all(Facts::is_empty));
    let [moved] = of_kind("channel_id_changed").try_into().unwrap();
    assert_eq!(moved.chats.first().unwrap().former_ids, ["G1"]);
}

#[test]
fn a_person_has_a_name_and_proven_aliases() {
    let [changed] = of_kind("user_change").try_into().unwrap();
    let person = changed.people.first().unwrap();
    assert_eq!(person.name.as_deref(), Some("Robbie"));
    let aliases = [Alias::Username("bob".to_owned()), Alias::Email("bob@acme.example".to_owned())];
    assert_eq!(person.aliases, aliases);
}
