//! Nothing personal reaches the files of a hub through long-term memory.

use std::path::Path;

use serde_json::json;
use testkit::{On, TestHub, generous};

use crate::world::{operator, worker};

/// Values that must never be found on the disk.
const VALUES: [&str; 14] = [
    "bob.smith@example.org",
    "4012888888881881",
    "5555 5555 5555 4444",
    "DE89370400440532013000",
    "536-90-4399",
    "203.0.113.77",
    "2001:db8:85a3::8a2e:370:7334",
    "+49 30 90182000",
    "(415) 555-0132",
    "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "Wilhelmina Featherstonehaugh",
    "correct-horse-7-battery",
];

#[tokio::test]
async fn no_byte_of_a_personal_value_reaches_a_file() {
    let hub = TestHub::with(On::Sqlite, generous());
    let facts = json!({ "messages": [{
        "chat_id": "c", "message_id": "1", "sent_at": "2026-02-17T11:00:00Z", "text": "hello",
        "sender_id": "7", "sender_name": "Wilhelmina Featherstonehaugh",
    }] });
    hub.ok(&operator(), "add_messages", json!({ "source": "s", "facts": facts })).await;
    for (number, value) in VALUES.iter().enumerate() {
        let text = match number {
            13 => format!("password: {value}"),
            _ => format!("Customer {number} wrote from {value}; remember it."),
        };
        let input = json!({
            "kind": "long_term", "data": { "text": text, "nested": [{ "value": text }] },
        });
        let answer = hub.ok(&worker("author"), "remember", input).await;
        let taken = answer["redactions"].as_object().unwrap();
        let taken: u64 = taken.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(taken, 2, "{value}: {answer}");
    }
    let found = hub.ok(&worker("author"), "recall", json!({ "query": "customer wrote" })).await;
    assert!(found["memories"].as_array().unwrap().len() > 5);
    let envelope = json!({
        "id": "e", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "assistant",
        "content": "noted", "memory_update": { "kind": "long_term", "data": { "text": VALUES[0] } },
    });
    hub.ok(&worker("author"), "post_envelope", json!({ "envelope": envelope })).await;
    let (database, views) =
        (hub.database_folder().unwrap().to_owned(), hub.views_folder().to_owned());
    for folder in [&database, &views] {
        look(folder);
    }
    hub.stop().await;
}

/// Looks into every file of a folder.
fn look(folder: &Path) {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        seen += bytes.len();
        for (number, value) in VALUES.iter().enumerate() {
            // The name stands where people are kept: that is how it is known.
            if number == 12 {
                continue;
            }
            let is_there = bytes.windows(value.len()).any(|window| window == value.as_bytes());
            assert!(!is_there, "{value} in {}", entry.path().display());
        }
    }
    assert!(seen > 0, "there is something to look at");
}
