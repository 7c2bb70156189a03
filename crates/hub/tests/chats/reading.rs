//! Listing chats and reading them by time.

use serde_json::json;
use testkit::{On, TestHub, generous};

use crate::world::{add, agent, archive, message, operator, refusal, texts};

crate::on_both! {
    sources_and_chats_are_listed_with_what_is_known_of_them
    chats_are_filtered_by_sort_name_and_activity
    messages_come_newest_first_by_the_time_they_were_sent
    history_that_arrives_late_finds_its_place
    pages_by_cursor_and_offset_hold_everything_once
    times_are_inclusive_and_exclusive
    a_chat_is_found_by_id_name_case_and_part
    the_context_of_a_message_is_what_stands_around_it
    what_is_wrong_is_named
    the_trail_names_the_source_and_beside_it_the_chat
}

async fn sources_and_chats_are_listed_with_what_is_known_of_them(on: On) {
    let hub = archive(on).await;
    let sources = hub.ok(&operator(), "list_sources", json!({})).await;
    assert_eq!(sources["sources"][0]["id"], "telegram");
    assert_eq!(sources["sources"][0]["is_connected"], true);
    assert_eq!(sources["sources"][0]["status"], "archive");
    let chats = hub.ok(&operator(), "list_chats", json!({ "source": "telegram" })).await;
    assert_eq!(chats["complete"], true);
    let names: Vec<_> = chats["chats"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert_eq!(names, ["Work", "Family", "Antti"]);
    assert_eq!(chats["chats"][1]["participant_count"], 4);
    assert_eq!(chats["chats"][2]["participant_count"], 2);
    assert_eq!(chats["chats"][2]["uri"], "messages://telegram/1");
    hub.stop().await;
}

async fn the_trail_names_the_source_and_beside_it_the_chat(on: On) {
    let hub = archive(on).await;
    let reader = agent(&["telegram/*"], &[]);
    let family = json!({ "source": "telegram", "chat": "Family" });
    let page = hub.ok(&reader, "get_messages", family.clone()).await;
    let message = page["messages"][0]["id"].as_str().unwrap().to_owned();
    hub.ok(&reader, "get_messages", json!({ "search": "dinner" })).await;
    hub.ok(&reader, "list_chats", json!({ "source": "telegram" })).await;
    hub.ok(&reader, "get_context", json!({ "message_id": message })).await;
    let wait = json!({ "source": "telegram", "chat": "Family", "timeout_ms": 0 });
    hub.ok(&reader, "wait_for_messages", wait).await;
    let odd = json!({ "source": "telegram", "chat": format!("a\nb{}", "c".repeat(10_000)) });
    refusal(&hub, &reader, "get_messages", odd).await;
    let hub = hub.restart().await;
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let entries = trail["entries"].as_array().unwrap().iter();
    let told: Vec<[&str; 3]> = entries
        .filter(|entry| entry["agent_id"] == "agent")
        .map(|entry| {
            ["operation", "object", "detail"].map(|key| entry[key].as_str().unwrap_or_default())
        })
        .collect();
    let cut = format!(r#"{{"chat":"a b{}…"}}"#, "c".repeat(124));
    assert_eq!(
        told,
        [
            ["get_messages", "telegram", r#"{"chat":"Family"}"#],
            ["get_messages", "*", ""],
            ["list_chats", "telegram", ""],
            ["get_context", message.as_str(), ""],
            ["wait_for_messages", "telegram", r#"{"chat":"Family"}"#],
            ["get_messages", "telegram", cut.as_str()],
        ]
    );
    hub.stop().await;
}

async fn chats_are_filtered_by_sort_name_and_activity(on: On) {
    let hub = archive(on).await;
    for (filter, expected) in [
        (json!({ "chat_type": "group" }), vec!["Work", "Family"]),
        (json!({ "name_pattern": "fAM" }), vec!["Family"]),
        (json!({ "active_since": "2025-01-13T12:04:00Z" }), vec!["Work"]),
        (json!({ "active_since": "2025-01-13T12:03:00Z", "name_pattern": "o" }), vec!["Work"]),
    ] {
        let input = json!({ "source": "telegram", "filter": filter });
        let chats = hub.ok(&operator(), "list_chats", input).await;
        let names: Vec<_> = chats["chats"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
        assert_eq!(names, expected, "{filter}");
    }
    hub.stop().await;
}

async fn messages_come_newest_first_by_the_time_they_were_sent(on: On) {
    let hub = archive(on).await;
    let input = json!({ "source": "telegram", "chat": "Antti" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(
        texts(&page),
        ["Good", "Yes, the MEETING is at two", "Are you coming to the meeting?"]
    );
    let first = &page["messages"][0];
    for field in ["id", "chat_id", "sender", "content", "timestamp"] {
        assert!(first[field].is_string(), "{field}");
    }
    assert_eq!((&first["trust"], &first["source"]), (&"external".into(), &"telegram".into()));
    let all = hub.ok(&operator(), "get_messages", json!({ "source": "telegram" })).await;
    assert_eq!(texts(&all).len(), 5);
    assert_eq!(all["messages"][0]["chat"], "Work");
    hub.stop().await;
}

async fn history_that_arrives_late_finds_its_place(on: On) {
    let hub = archive(on).await;
    let older = json!({ "messages": [message("1", 0, -60, "Antti", "An hour earlier")] });
    assert_eq!(add(&hub, "telegram", older).await["messages_added"], 1);
    let input = json!({ "source": "telegram", "chat": "1" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(texts(&page).last(), Some(&"An hour earlier"));
    hub.stop().await;
}

async fn pages_by_cursor_and_offset_hold_everything_once(on: On) {
    let hub = TestHub::with(on, generous());
    // Several share a moment, so that a page border falls between equals.
    let messages: Vec<_> =
        (0..100).map(|n| message("9", n, n / 7, "Alice", &format!("message {n}"))).collect();
    add(&hub, "telegram", json!({ "messages": messages })).await;
    for extra in [json!({ "chat": "9" }), json!({ "chat": "9", "search": "message" })] {
        let mut seen = Vec::new();
        let mut input = json!({ "source": "telegram", "limit": 9 });
        input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let from_start = input.clone();
        loop {
            let page = hub.ok(&operator(), "get_messages", input.clone()).await;
            seen.extend(texts(&page).iter().map(|text| (*text).to_owned()));
            match page["next_cursor"].as_str() {
                Some(cursor) => input["cursor"] = cursor.into(),
                None => break,
            }
        }
        let expected: Vec<String> = (0..100).rev().map(|n| format!("message {n}")).collect();
        assert_eq!(seen, expected, "{extra}");
        let mut input = from_start;
        input["offset"] = 90.into();
        input["limit"] = 20.into();
        let page = hub.ok(&operator(), "get_messages", input).await;
        assert_eq!(texts(&page), expected[90..].iter().map(String::as_str).collect::<Vec<_>>());
    }
    hub.stop().await;
}

async fn times_are_inclusive_and_exclusive(on: On) {
    let hub = archive(on).await;
    let input = json!({
        "source": "telegram", "chat": "Antti",
        "since": "2025-01-13T12:01:00Z", "before": "2025-01-13T12:02:00Z",
    });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(texts(&page), ["Yes, the MEETING is at two"]);
    hub.stop().await;
}

async fn a_chat_is_found_by_id_name_case_and_part(on: On) {
    let hub = archive(on).await;
    let facts = json!({ "chats": [
        { "chat_id": "4", "name": "family trip" }, { "chat_id": "5", "name": "WORK" },
    ] });
    add(&hub, "telegram", facts).await;
    for (text, id) in [("2", "2"), ("Family", "2"), ("ANTTI", "1"), ("tri", "4"), ("WORK", "5")] {
        let input = json!({ "source": "telegram", "chat": text });
        let page = hub.call(&operator(), "get_messages", input).await;
        let page = page.unwrap_or_else(|error| panic!("{text}: {error}"));
        let first = page["messages"].get(0).map_or("4 or 5", |m| m["chat_id"].as_str().unwrap());
        assert!(first == id || first == "4 or 5", "{text} gave {first}");
    }
    let error =
        refusal(&hub, &operator(), "get_messages", json!({ "source": "telegram", "chat": "fam" }))
            .await;
    assert_eq!(error.code.name(), "INVALID_PARAMETER");
    assert!(error.message.contains("ambiguous"), "{}", error.message);
    let hint = error.hint.unwrap();
    assert!(hint.contains("'Family' (id 2)") && hint.contains("'family trip' (id 4)"), "{hint}");
    hub.stop().await;
}

async fn the_context_of_a_message_is_what_stands_around_it(on: On) {
    let hub = TestHub::with(on, generous());
    let messages: Vec<_> = (0..30).map(|n| message("9", n, n, "Alice", &format!("m{n}"))).collect();
    add(&hub, "telegram", json!({ "messages": messages })).await;
    let input = json!({ "source": "telegram", "chat": "9", "search": "m15" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    let id = &page["messages"][0]["id"];
    let input = json!({ "message_id": id, "before": 2, "after": 1 });
    let context = hub.ok(&operator(), "get_context", input).await;
    assert_eq!(texts(&context), ["m13", "m14", "m15", "m16"]);
    assert_eq!((&context["has_earlier"], &context["has_later"]), (&true.into(), &true.into()));
    let stranger = agent(&["telegram/other"], &[]);
    assert_eq!(hub.code(&stranger, "get_context", json!({ "message_id": id })).await, "NOT_FOUND");
    hub.stop().await;
}

async fn what_is_wrong_is_named(on: On) {
    let hub = archive(on).await;
    for (input, field) in [
        (json!({ "since": "invalid-date" }), "since"),
        (json!({ "source": "telegram", "limit": 0 }), "limit"),
        (json!({ "source": "telegram", "limit": 201 }), "limit"),
        (json!({ "source": "telegram", "offset": -1 }), "offset"),
        (json!({ "source": "telegram", "cursor": "x" }), "cursor"),
        (json!({ "source": "telegram", "search": "" }), "search"),
        (json!({ "source": "telegram", "since": "1d", "before": "2d" }), "since"),
        (json!({ "source": "telegram", "sender": "Nobody" }), "sender"),
        (json!({ "source": "telegram", "order": "relevance" }), "order"),
        (json!({ "source": "telegram", "sice": "1d" }), "sice"),
    ] {
        let error = refusal(&hub, &operator(), "get_messages", input.clone()).await;
        assert_eq!(error.code.name(), "INVALID_PARAMETER", "{input}: {}", error.message);
        assert_eq!(error.field.as_deref(), Some(field), "{input}: {}", error.message);
    }
    let error = refusal(&hub, &operator(), "list_chats", json!({ "source": "signal" })).await;
    assert_eq!(error.message, "Source 'signal' not found");
    let input = json!({ "source": "telegram", "chat": "Invalid" });
    let error = refusal(&hub, &operator(), "get_messages", input).await;
    assert_eq!(error.message, "Chat 'Invalid' not found in source 'telegram'");
    hub.stop().await;
}
