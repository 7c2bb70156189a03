//! Every sort of envelope, as a fact.

use protocol::chat::{Alias, ChatType, ContentType, Facts, MessageFact};
use serde_json::{Value, json};
use testkit::fakes::FakeSignal;

use super::super::envelope::Translator;
use super::{ANTTI, BEA, FAMILY, ME, envelope};

fn read_all(names: &[&str]) -> Facts {
    let translator = Translator::new(FakeSignal::ACCOUNT);
    let mut facts = Facts::default();
    for name in names {
        let received = json!({"envelope": envelope(name), "account": FakeSignal::ACCOUNT});
        translator.read(&received, &mut facts);
    }
    facts
}

fn message(name: &str) -> MessageFact {
    let facts = read_all(&[name]);
    assert_eq!(facts.messages.len(), 1, "{name}: {facts:?}");
    facts.messages.into_iter().next().unwrap()
}

fn id(author: &str, sent: i64) -> String {
    format!("{author}:{}", 1_750_000_000_000 + sent)
}

#[test]
fn a_direct_chat_is_named_by_the_other_persons_uuid() {
    let facts = read_all(&["text"]);
    let chat = &facts.chats[0];
    assert_eq!((chat.chat_id.as_str(), chat.chat_type), (ANTTI, Some(ChatType::Direct)));
    assert_eq!(chat.former_ids, ["+4915100000010"]);
    let person = &facts.people[0];
    let aliases = [Alias::Uuid(ANTTI.to_owned()), Alias::Phone("+4915100000010".to_owned())];
    assert_eq!((person.person_id.as_str(), person.is_self), (ANTTI, false));
    assert_eq!(person.aliases, aliases);
}

#[test]
fn a_group_keeps_its_id_when_it_is_renamed() {
    let facts = read_all(&["group_text", "group_renamed"]);
    let names: Vec<_> = facts.chats.iter().map(|chat| chat.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Family", "Family & Friends"]);
    assert!(facts.chats.iter().all(|chat| chat.chat_id == FAMILY));
    assert!(facts.chats.iter().all(|chat| chat.chat_type == Some(ChatType::Group)));
    assert_eq!(facts.messages[1].content, ContentType::Service);
    assert_eq!(facts.messages[1].text, "changed the group");
}

#[test]
fn an_answer_names_what_it_answers_and_whom() {
    let reply = message("reply_with_mention");
    assert_eq!(reply.reply_to, Some(id(ANTTI, 1)));
    assert_eq!(reply.text, "yes, @+4915100000012 too");
}

#[test]
fn a_picture_has_its_file_and_its_caption() {
    let photo = message("photo");
    assert_eq!((photo.content, photo.text.as_str()), (ContentType::Image, "the view"));
    let file = &photo.attachments[0];
    assert_eq!(file.remote_id.as_deref(), Some("abc123.jpg"));
    assert_eq!((file.name.as_deref(), file.bytes), (Some("view.jpg"), Some(98_765)));
    assert_eq!(photo.extra["previews"][0]["url"], "https://example.org/");
}

#[test]
fn what_is_meant_to_be_seen_once_is_not_carried() {
    let once = message("view_once");
    assert!(once.is_view_once);
    assert_eq!((once.content, once.text.as_str()), (ContentType::Video, ""));
    assert!(once.attachments.is_empty());
}

#[test]
fn what_disappears_says_when() {
    let expiring = message("expiring");
    assert_eq!(expiring.expires_at, Some(expiring.sent_at.plus_ms(3_600_000)));
    let rule = message("expiry_set");
    assert_eq!((rule.content, rule.expires_at), (ContentType::Service, None));
    assert_eq!(rule.text, "let messages disappear after 3600 s");
}

#[test]
fn a_sign_is_put_on_and_taken_off() {
    let facts = read_all(&["reaction", "reaction_removed"]);
    assert!(facts.messages.is_empty());
    let [put, taken] = &facts.reactions[..] else { panic!() };
    assert_eq!((put.chat_id.as_str(), put.message_id.clone()), (FAMILY, id(ANTTI, 1)));
    assert_eq!((put.person_id.as_str(), put.emoji.as_str()), (BEA, "👍"));
    assert_eq!((put.is_removed, taken.is_removed), (false, true));
}

#[test]
fn a_message_is_taken_back_by_its_author_or_by_an_admin() {
    let facts = read_all(&["deleted", "deleted_by_admin"]);
    let [own, admin] = &facts.deletions[..] else { panic!() };
    assert_eq!((own.message_id.clone(), own.by.as_deref()), (id(ANTTI, 1), Some(ANTTI)));
    assert_eq!((admin.message_id.clone(), admin.by.as_deref()), (id(ANTTI, 1), Some(BEA)));
    assert_eq!((own.chat_id.as_str(), admin.chat_id.as_str()), (ANTTI, FAMILY));
}

#[test]
fn a_change_that_comes_before_its_message_still_names_it() {
    let facts = read_all(&["edit", "text"]);
    let edit = &facts.edits[0].message;
    assert_eq!(edit.message_id, facts.messages[0].message_id);
    assert_eq!((edit.sent_at, edit.text.as_str()), (facts.messages[0].sent_at, "Kaffee um vier?"));
    assert_eq!(edit.edited_at.unwrap().as_ms(), 1_750_000_000_013);
    assert_eq!(edit.expires_at, Some(edit.sent_at.plus_ms(60_000)));
}

#[test]
fn a_change_of_a_change_belongs_to_the_first_message() {
    let facts = read_all(&["text", "edit", "edit_of_edit"]);
    let last = &facts.edits[1].message;
    assert_eq!((last.message_id.clone(), last.sent_at.as_ms()), (id(ANTTI, 1), 1_750_000_000_001));
    assert_eq!(last.text, "Kaffee um fünf?");
}

#[test]
fn what_the_owner_says_on_a_telephone_is_theirs() {
    let facts = read_all(&["own_direct", "own_group", "own_note"]);
    let [direct, group, note] = &facts.messages[..] else { panic!() };
    assert_eq!((direct.chat_id.as_str(), direct.message_id.clone()), (ANTTI, id(ME, 15)));
    assert_eq!(direct.expires_at, Some(direct.sent_at.plus_ms(30_000)));
    assert_eq!((group.chat_id.as_str(), note.chat_id.as_str()), (FAMILY, ME));
    assert!(facts.messages.iter().all(|message| message.sender_id.as_deref() == Some(ME)));
    let own = facts.people.iter().filter(|person| person.is_self);
    assert!(own.clone().count() > 0 && own.clone().all(|person| person.person_id == ME));
}

#[test]
fn what_the_owner_changes_on_a_telephone_is_changed() {
    let edit = &read_all(&["own_edit"]).edits[0].message;
    assert_eq!((edit.chat_id.as_str(), edit.message_id.clone()), (ANTTI, id(ME, 15)));
    assert_eq!(
        (edit.text.as_str(), edit.edited_at.unwrap().as_ms()),
        ("at five then", 1_750_000_000_017)
    );
}

#[test]
fn polls_are_asked_answered_and_ended() {
    let poll = message("poll");
    assert_eq!(
        (poll.content, poll.text.as_str()),
        (ContentType::Poll, "When?\n- Monday\n- Tuesday")
    );
    let vote = message("poll_vote");
    assert_eq!((vote.text.as_str(), vote.reply_to), ("voted for option 2", Some(id(ANTTI, 21))));
    let end = message("poll_end");
    assert_eq!((end.content, end.reply_to), (ContentType::Service, Some(id(ANTTI, 21))));
}

#[test]
fn other_sorts_keep_what_they_say() {
    let of = |name: &str| {
        let found = message(name);
        (found.content, found.text)
    };
    assert_eq!(of("sticker"), (ContentType::Sticker, String::new()));
    assert_eq!(of("contact"), (ContentType::Contact, "Chandler Bing, +15555555555".to_owned()));
    assert_eq!(of("pin"), (ContentType::Service, "pinned a message".to_owned()));
    assert_eq!(of("payment"), (ContentType::Other, "for lunch".to_owned()));
    assert_eq!(of("call"), (ContentType::Call, "video call".to_owned()));
    assert_eq!(of("story"), (ContentType::Other, "my day".to_owned()));
}

#[test]
fn a_story_lives_for_a_day() {
    let story = message("story");
    assert_eq!(story.expires_at.unwrap().ms_since(story.sent_at), 24 * 3_600_000);
}

#[test]
fn what_nobody_has_heard_of_is_kept_by_its_name() {
    for (name, called) in [("gift", "giftBadge"), ("unheard_of", "hologramMessage")] {
        let unknown = message(name);
        assert_eq!(unknown.content, ContentType::Other);
        assert_eq!(unknown.extra["signal"], called);
    }
}

#[test]
fn what_programs_tell_each_other_is_left_out() {
    for name in ["typing", "receipt", "own_read", "call_ice", "bare"] {
        let mut facts = read_all(&[name]);
        facts.people.clear();
        assert!(facts.is_empty(), "{name}: {facts:?}");
    }
}

#[test]
fn what_cannot_be_decrypted_leaves_a_mark_beside_its_id() {
    let read = |exception: &str| {
        let mut facts = Facts::default();
        let received = json!({"envelope": envelope("bare"), "account": FakeSignal::ACCOUNT,
            "exception": {"message": "no session", "type": exception}});
        Translator::new("").read(&received, &mut facts);
        facts.messages
    };
    let mark = &read("ProtocolNoSessionException")[0];
    assert_eq!(mark.message_id, format!("{}:undecrypted", id(ANTTI, 34)));
    assert_eq!(mark.content, ContentType::Other);
    assert!(read("ProtocolDuplicateMessageException").is_empty());
}

#[test]
fn an_absurd_clock_is_corrected_by_the_servers() {
    let message = message("absurd_clock");
    assert_eq!(message.sent_at.as_ms(), 1_750_000_000_135);
    assert_eq!(message.message_id, format!("{ANTTI}:9223372036854775807"));
}

#[test]
fn the_same_twice_is_the_same() {
    let once = read_all(&["text", "photo", "own_direct"]);
    let twice = read_all(&["text", "photo", "own_direct", "own_direct", "photo", "text"]);
    let ids = |facts: &Facts| -> std::collections::BTreeSet<String> {
        facts.messages.iter().map(|message| message.message_id.clone()).collect()
    };
    assert_eq!(ids(&once), ids(&twice));
}

#[test]
fn nonsense_breaks_nothing() {
    let all: Value = serde_json::from_str(include_str!("../fixtures/envelopes.json")).unwrap();
    let translator = Translator::new("");
    for envelope in all.as_object().unwrap().values() {
        for nonsense in [json!(null), json!(7), json!("x"), json!([]), json!({}), json!([{}])] {
            let mut broken = vec![envelope.clone()];
            replace_each(envelope, &nonsense, &mut |changed| broken.push(changed));
            for envelope in broken {
                translator.read(&json!({"envelope": envelope}), &mut Facts::default());
            }
        }
    }
}

/// Every version of a value with one of its parts replaced.
fn replace_each(value: &Value, with: &Value, found: &mut dyn FnMut(Value)) {
    found(with.clone());
    if let Value::Object(fields) = value {
        for (name, inner) in fields {
            replace_each(inner, with, &mut |changed| {
                let mut whole = value.clone();
                whole[name] = changed;
                found(whole);
            });
        }
    }
}
