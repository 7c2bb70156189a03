//! One archive of many facts: twice, late, out of order, changed and taken back.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::world::{add, archive, message, operator, texts};

crate::on_both! {
    the_same_facts_twice_add_nothing
    an_edit_keeps_what_was_said_before
    an_edit_that_is_older_than_the_last_changes_nothing
    a_deletion_takes_the_words_and_keeps_that_there_was_a_message
    changes_that_come_before_their_message_wait_for_it
    signs_are_counted_once_a_person
    a_chat_that_moves_to_another_id_stays_one
    nothing_of_a_message_that_is_seen_once_is_kept
    odd_ids_and_texts_are_kept
    a_source_of_another_service_is_refused
    threads_do_not_show_chats
}

async fn only(hub: &TestHub, chat: &str) -> Value {
    let input = json!({ "source": "telegram", "chat": chat });
    hub.ok(&operator(), "get_messages", input).await["messages"][0].clone()
}

async fn the_same_facts_twice_add_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let facts =
        json!({ "messages": [message("1", 1, 0, "A", "one"), message("1", 2, 1, "A", "two")] });
    let first = add(&hub, "telegram", facts.clone()).await;
    assert_eq!((&first["messages_added"], &first["chats_added"]), (&2.into(), &1.into()));
    let again = add(&hub, "telegram", facts).await;
    assert_eq!((&again["messages_added"], &again["messages_known"]), (&0.into(), &2.into()));
    // Within the same facts, too.
    let twice =
        json!({ "messages": [message("1", 3, 2, "A", "three"), message("1", 3, 2, "A", "three")] });
    let third = add(&hub, "telegram", twice).await;
    assert_eq!((&third["messages_added"], &third["messages_known"]), (&1.into(), &1.into()));
    hub.stop().await;
}

fn edited(id: i64, text: &str, minute: i64) -> Value {
    let mut message = message("1", id, 1, "Alice", text);
    message["edited_at"] =
        protocol::Timestamp::from_ms(1_736_769_600_000 + minute * 60_000).to_string().into();
    json!({ "edits": [{ "message": message }] })
}

async fn an_edit_keeps_what_was_said_before(on: On) {
    let hub = archive(on).await;
    add(&hub, "telegram", edited(2, "The meeting is at three", 5)).await;
    add(&hub, "telegram", edited(2, "The meeting is at four", 6)).await;
    let found = json!({ "source": "telegram", "chat": "1", "search": "at four" });
    let page = hub.ok(&operator(), "get_messages", found).await;
    assert_eq!(texts(&page), ["The meeting is at four"]);
    assert_eq!(page["messages"][0]["edited_at"], "2025-01-13T12:06:00Z");
    let gone = json!({ "source": "telegram", "chat": "1", "search": "at two" });
    assert!(texts(&hub.ok(&operator(), "get_messages", gone).await).is_empty());
    let id = &page["messages"][0]["id"];
    let context = hub.ok(&operator(), "get_context", json!({ "message_id": id })).await;
    assert_eq!(
        context["versions"],
        json!(["Yes, the MEETING is at two", "The meeting is at three"])
    );
    hub.stop().await;
}

async fn an_edit_that_is_older_than_the_last_changes_nothing(on: On) {
    let hub = archive(on).await;
    add(&hub, "telegram", edited(2, "newer", 6)).await;
    add(&hub, "telegram", edited(2, "older", 5)).await;
    add(&hub, "telegram", edited(2, "newer", 6)).await;
    let input = json!({ "source": "telegram", "chat": "1", "search": "newer" });
    assert_eq!(texts(&hub.ok(&operator(), "get_messages", input).await), ["newer"]);
    hub.stop().await;
}

async fn a_deletion_takes_the_words_and_keeps_that_there_was_a_message(on: On) {
    let hub = archive(on).await;
    add(&hub, "telegram", edited(2, "a secret", 5)).await;
    let gone = json!({ "deletions": [
        { "chat_id": "1", "message_id": "2", "at": "2025-01-13T13:00:00Z", "by": "alice" },
    ] });
    add(&hub, "telegram", gone.clone()).await;
    assert_eq!(add(&hub, "telegram", gone).await["messages_changed"], 0);
    let input = json!({ "source": "telegram", "chat": "1" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(texts(&page), ["Good", "", "Are you coming to the meeting?"]);
    assert_eq!(page["messages"][1]["deleted_at"], "2025-01-13T13:00:00Z");
    let input = json!({ "message_id": page["messages"][1]["id"] });
    let context = hub.ok(&operator(), "get_context", input).await;
    assert!(context.get("versions").is_none(), "earlier words are gone too: {context}");
    for word in ["secret", "meeting is"] {
        let input = json!({ "source": "telegram", "search": word });
        assert!(texts(&hub.ok(&operator(), "get_messages", input).await).is_empty(), "{word}");
    }
    hub.stop().await;
}

async fn changes_that_come_before_their_message_wait_for_it(on: On) {
    let hub = TestHub::with(on, generous());
    let early = json!({
        "reactions": [{ "chat_id": "1", "message_id": "7", "person_id": "b", "emoji": "👍",
                        "at": "2025-01-13T12:00:00Z" }],
        "deletions": [{ "chat_id": "1", "message_id": "8", "at": "2025-01-13T12:00:00Z" }],
    });
    add(&hub, "telegram", early).await;
    let late =
        json!({ "messages": [message("1", 7, 1, "A", "kept"), message("1", 8, 0, "A", "gone")] });
    add(&hub, "telegram", late).await;
    let input = json!({ "source": "telegram", "chat": "1" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(texts(&page), ["kept", ""]);
    assert_eq!(
        page["messages"][0]["reactions"],
        json!([{ "emoji": "👍", "count": 1, "by": ["b"] }])
    );
    hub.stop().await;
}

async fn signs_are_counted_once_a_person(on: On) {
    let hub = TestHub::with(on, generous());
    add(&hub, "telegram", json!({ "messages": [message("1", 1, 0, "A", "hello")] })).await;
    let sign = |person: &str, is_removed: bool| {
        json!({ "reactions": [{ "chat_id": "1", "message_id": "1", "person_id": person,
            "emoji": "❤", "at": "2025-01-13T12:00:00Z", "is_removed": is_removed }] })
    };
    for (person, is_removed) in [("b", false), ("b", false), ("c", false), ("b", true), ("b", true)]
    {
        add(&hub, "telegram", sign(person, is_removed)).await;
    }
    assert_eq!(
        only(&hub, "1").await["reactions"],
        json!([{ "emoji": "❤", "count": 1, "by": ["c"] }])
    );
    hub.stop().await;
}

async fn a_chat_that_moves_to_another_id_stays_one(on: On) {
    let hub = archive(on).await;
    let moved = json!({
        "chats": [{ "chat_id": "-1003", "chat_type": "group", "former_ids": ["3"] }],
        "messages": [message("-1003", 2, 5, "Bob", "Now we are many")],
    });
    add(&hub, "telegram", moved).await;
    // An old update that still names the former id.
    add(&hub, "telegram", json!({ "messages": [message("3", 3, 6, "Bob", "late")] })).await;
    let input = json!({ "source": "telegram", "chat": "Work" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(texts(&page), ["late", "Now we are many", "The project ships on Friday"]);
    assert_eq!(page["messages"][2]["chat_id"], "-1003");
    hub.stop().await;
}

async fn nothing_of_a_message_that_is_seen_once_is_kept(on: On) {
    let hub = TestHub::with(on, generous());
    let mut secret = message("1", 1, 0, "A", "for your eyes only");
    secret["is_view_once"] = true.into();
    secret["content"] = "image".into();
    secret["attachments"] = json!([{ "remote_id": "file-1", "name": "photo.jpg" }]);
    add(&hub, "telegram", json!({ "messages": [secret] })).await;
    let message = only(&hub, "1").await;
    assert_eq!((&message["content"], &message["content_type"]), (&"".into(), &"image".into()));
    assert!(message.get("attachments").is_none());
    hub.stop().await;
}

async fn odd_ids_and_texts_are_kept(on: On) {
    let hub = TestHub::with(on, generous());
    let long = "x".repeat(300 * 1024);
    let mut odd = message("1", 1, 0, "A", "with \u{0} and \u{202e}bidi\u{2069} and \u{e0041}tags");
    odd["message_id"] = "y".repeat(10_000).into();
    let facts = json!({ "messages": [odd, message("1", 2, 1, "A", &long)] });
    add(&hub, "telegram", facts).await;
    let input = json!({ "source": "telegram", "chat": "1" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    let shown = page["messages"][1]["content"].as_str().unwrap();
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{e0041}'), "{shown:?}");
    assert!(shown.starts_with("with ") && shown.ends_with("tags"), "{shown:?}");
    assert!(page["messages"][0]["content"].as_str().unwrap().contains("more bytes not shown"));
    hub.stop().await;
}

async fn a_source_of_another_service_is_refused(on: On) {
    let hub = archive(on).await;
    let input = json!({ "source": "telegram", "service": "slack", "facts": {} });
    assert_eq!(hub.code(&operator(), "add_messages", input).await, "CONFLICT");
    hub.stop().await;
}

async fn threads_do_not_show_chats(on: On) {
    let hub = archive(on).await;
    let threads = hub.ok(&operator(), "list_threads", json!({})).await;
    assert_eq!(threads["threads"], json!([]));
    let found = hub.ok(&operator(), "search_messages", json!({ "query": "meeting" })).await;
    assert_eq!(found["hits"], json!([]));
    assert_eq!(found["index_behind"], false);
    hub.stop().await;
}
