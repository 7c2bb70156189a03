//! Containment through the door: equal to looking at every message.

use proptest::prelude::*;
use protocol::fold::fold;
use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::world::{add, archive, message, operator, texts};

crate::on_both! {
    any_part_of_a_text_is_found_whatever_its_case
    filters_are_joined_by_and
    the_best_come_first_when_asked
}

async fn any_part_of_a_text_is_found_whatever_its_case(on: On) {
    let hub = archive(on).await;
    for (needle, count) in [
        ("eet", 2),
        ("MEETING?", 1),
        ("会議", 1),
        ("の", 1),
        ("g to the m", 1),
        ("zzz", 0),
        ("?", 2),
    ] {
        let page = hub.ok(&operator(), "get_messages", json!({ "search": needle })).await;
        assert_eq!(texts(&page).len(), count, "{needle}");
        assert_eq!(page["index_behind"], false);
    }
    hub.stop().await;
}

async fn filters_are_joined_by_and(on: On) {
    let hub = archive(on).await;
    let input = json!({ "source": "telegram", "search": "meeting", "sender": "Alice",
        "content_type": ["text"], "since": "2025-01-13" });
    let page = hub.ok(&operator(), "get_messages", input.clone()).await;
    assert_eq!(texts(&page), ["Yes, the MEETING is at two"]);
    for (field, value) in [
        ("chat", json!("Family")),
        ("before", json!("2025-01-13T12:01:00Z")),
        ("content_type", json!(["image"])),
    ] {
        let mut narrower = input.clone();
        narrower[field] = value;
        if field == "chat" {
            narrower.as_object_mut().unwrap().remove("sender");
        }
        let page = hub.ok(&operator(), "get_messages", narrower).await;
        assert!(texts(&page).is_empty(), "{field}");
    }
    hub.stop().await;
}

async fn the_best_come_first_when_asked(on: On) {
    let hub = TestHub::with(on, generous());
    let facts = json!({ "messages": [
        message("1", 1, 0, "A", "release notes: the release of the release train"),
        message("1", 2, 1, "A", "a very long text about everything and nothing, in which the word \
            release occurs once among many other words that have nothing to do with it at all"),
        message("1", 3, 2, "A", "unrelated"),
    ] });
    add(&hub, "telegram", facts).await;
    let input = json!({ "search": "release", "order": "relevance" });
    let page = hub.ok(&operator(), "get_messages", input).await;
    assert_eq!(page["messages"][0]["remote_id"], "1");
    assert_eq!(texts(&page).len(), 2);
    hub.stop().await;
}

const ALPHABET: [&str; 14] =
    ["a", "B", "ß", "SS", " ", "É", "é", "会", "議", "ป", "👩🏽\u{200d}💻", ".", "\u{301}", "Σ"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn containment_equals_a_scan_of_what_is_shown(
        bodies in prop::collection::vec(prop::collection::vec(0..ALPHABET.len(), 1..12), 1..40),
        cuts in prop::collection::vec((any::<usize>(), any::<usize>(), 1_usize..5), 12),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all()
            .build().unwrap();
        runtime.block_on(async move {
            let hub = TestHub::start();
            let bodies: Vec<String> = bodies.iter()
                .map(|body| body.iter().map(|n| ALPHABET[*n]).collect()).collect();
            let messages: Vec<Value> = bodies.iter().enumerate()
                .map(|(n, body)| {
                    let n = i64::try_from(n).unwrap();
                    message(&(n % 3).to_string(), n, n, "A", body)
                }).collect();
            add(&hub, "telegram", json!({ "messages": messages })).await;
            let all = hub.ok(&operator(), "get_messages", json!({ "limit": 200 })).await;
            let shown: Vec<String> = texts(&all).iter().map(|text| (*text).to_owned()).collect();
            for (body, start, length) in cuts {
                let text: Vec<char> = shown[body % shown.len()].chars().collect();
                let start = start % text.len().max(1);
                let needle: String = text.iter().skip(start).take(length).collect();
                if needle.trim().is_empty() {
                    continue;
                }
                let expected: Vec<&String> =
                    shown.iter().filter(|text| fold(text).contains(&*fold(&needle))).collect();
                let input = json!({ "search": needle, "limit": 200 });
                let found = hub.ok(&operator(), "get_messages", input).await;
                assert_eq!(texts(&found), expected, "{needle:?}");
            }
            hub.stop().await;
        });
    }
}
