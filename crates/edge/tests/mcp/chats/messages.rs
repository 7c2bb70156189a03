//! Requirement: the tool `get_messages`.

use serde_json::{Value, json};

use super::world::{Era, OWNER, add, each, telegram, thousand};

#[tokio::test]
async fn get_messages_from_specific_chat() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "chat": "Antti" });
        let result = era.tool(&edge, OWNER, "get_messages", input).await;
        let messages = &result["structuredContent"]["messages"];
        let said = ["Good", "Yes, the MEETING is at two", "Are you coming to the meeting?"];
        assert_eq!(each(messages, "content"), said, "newest first");
        assert_eq!(each(messages, "sender"), ["Antti", "Alice", "Antti"]);
        assert_eq!(each(messages, "chat_id"), ["1", "1", "1"]);
        assert_eq!(each(messages, "timestamp")[0], "2026-02-17T11:20:00Z");
        let mut ids = each(messages, "id");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert_eq!(each(messages, "trust"), ["external"; 3]);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("[2026-02-17T11:00:00Z] Antti: Are you coming"), "{text}");
    }
}

#[tokio::test]
async fn filter_messages_by_time_range() {
    let edge = telegram().await;
    let old = |id: i64, at: &str, text: &str| {
        json!({
            "chat_id": "1", "message_id": id.to_string(), "sent_at": at, "sender_id": "antti",
            "text": text,
        })
    };
    let messages = json!([
        old(11, "2025-01-12T23:59:59.999Z", "before"),
        old(12, "2025-01-13T00:00:00Z", "first"),
        old(13, "2025-01-20T10:00:00Z", "later"),
    ]);
    add(&edge, "telegram", json!({ "messages": messages })).await;
    for era in Era::BOTH {
        let input = json!({
            "source": "telegram", "chat": "Antti", "since": "2025-01-13T00:00:00Z", "limit": 200,
        });
        let told = era.told(&edge, OWNER, "get_messages", input).await;
        let said = each(&told["messages"], "content");
        assert_eq!(said.len(), 5);
        assert_eq!(said[3..], ["later", "first"], "since is inclusive");
        let input = json!({
            "source": "telegram", "chat": "Antti", "since": "2025-01-13", "before": "2025-01-20T10:00:00Z",
        });
        let told = era.told(&edge, OWNER, "get_messages", input).await;
        assert_eq!(each(&told["messages"], "content"), ["first"], "before is exclusive");
    }
}

#[tokio::test]
async fn filter_messages_by_sender() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "chat": "Antti", "sender": "Alice" });
        let told = era.told(&edge, OWNER, "get_messages", input).await;
        assert_eq!(each(&told["messages"], "content"), ["Yes, the MEETING is at two"]);
    }
}

#[tokio::test]
async fn search_messages_by_text() {
    let edge = telegram().await;
    for era in Era::BOTH {
        for search in ["meeting", "eet"] {
            let input = json!({ "source": "telegram", "chat": "Antti", "search": search });
            let told = era.told(&edge, OWNER, "get_messages", input).await;
            let said = ["Yes, the MEETING is at two", "Are you coming to the meeting?"];
            assert_eq!(each(&told["messages"], "content"), said, "{search}");
        }
    }
}

#[tokio::test]
async fn limit_number_of_results() {
    let edge = thousand().await;
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "chat": "Antti", "limit": 10 });
        let told = era.told(&edge, OWNER, "get_messages", input).await;
        let newest: Vec<String> = (991..=1000).rev().map(|n| format!("m{n}")).collect();
        assert_eq!(each(&told["messages"], "content"), newest);
        assert!(told["next_cursor"].is_string(), "there is more");
    }
}

#[tokio::test]
async fn query_all_chats_in_source() {
    let edge = telegram().await;
    for era in Era::BOTH {
        let input = json!({ "source": "telegram", "search": "project" });
        let told = era.told(&edge, OWNER, "get_messages", input).await;
        let messages = &told["messages"];
        assert_eq!(each(messages, "chat"), ["Family", "Work"]);
        assert_eq!(each(messages, "chat_id"), ["2", "4"]);
        assert_eq!(each(messages, "source"), ["telegram", "telegram"]);
    }
}

#[tokio::test]
async fn pages_by_cursor_and_by_offset_are_the_same_and_meet_without_a_gap() {
    let edge = thousand().await;
    let mut seen: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    for page in 0..5 {
        let mut input = json!({ "source": "telegram", "chat": "Antti", "limit": 200 });
        input["offset"] = (page * 200).into();
        let by_offset = Era::Modern.told(&edge, OWNER, "get_messages", input.clone()).await;
        input["offset"] = 0.into();
        if cursor.is_string() {
            input["cursor"] = cursor.clone();
        }
        let by_cursor = Era::Modern.told(&edge, OWNER, "get_messages", input).await;
        assert_eq!(by_cursor["messages"], by_offset["messages"], "page {page}");
        let said = each(&by_cursor["messages"], "content").into_iter().map(str::to_owned);
        seen.extend(said);
        cursor = by_cursor["next_cursor"].clone();
    }
    let all: Vec<String> = (1..=1000).rev().map(|n| format!("m{n}")).collect();
    assert_eq!(seen, all);
    assert!(cursor.is_null(), "the last page says so");
}
