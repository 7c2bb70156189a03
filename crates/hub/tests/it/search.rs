//! Searching messages through the door.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, caller_in, generous};

crate::on_both! {
    a_caller_finds_what_it_may_see_and_nothing_else
    pages_follow_each_other_without_gap_or_double
    a_query_without_words_is_explained
}

async fn thread_with(hub: &TestHub, owner: &str, bodies: &[&str]) -> String {
    let owner = caller(owner, Role::Worker);
    let thread = hub.ok(&owner, "create_thread", json!({ "title": "t" })).await;
    let id = thread["thread_id"].as_str().unwrap().to_owned();
    for body in bodies {
        hub.ok(&owner, "post_message", json!({ "thread_id": id, "body": body })).await;
    }
    id
}

fn bodies(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect()
}

async fn a_caller_finds_what_it_may_see_and_nothing_else(on: On) {
    let hub = TestHub::with(on, generous());
    thread_with(&hub, "alice", &["the secret lighthouse", "nothing here"]).await;
    thread_with(&hub, "bob", &["a Lighthouse by the sea"]).await;
    let query = json!({ "query": "lighthouse" });
    let alice = hub.ok(&caller("alice", Role::Worker), "search_messages", query.clone()).await;
    assert_eq!(bodies(&alice), ["the secret lighthouse"]);
    assert_eq!(alice["index_behind"], false);
    let everyone = hub.ok(&caller("human", Role::Operator), "search_messages", query.clone()).await;
    assert_eq!(bodies(&everyone), ["a Lighthouse by the sea", "the secret lighthouse"]);
    let foreign = caller_in("wk_other", "alice", Role::Operator);
    assert!(bodies(&hub.ok(&foreign, "search_messages", query).await).is_empty());
    hub.stop().await;
}

async fn pages_follow_each_other_without_gap_or_double(on: On) {
    let hub = TestHub::with(on, generous());
    let texts: Vec<String> = (1..=25).map(|n| format!("gull number{n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    thread_with(&hub, "alice", &texts).await;
    let alice = caller("alice", Role::Worker);
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = json!({ "query": "gull", "limit": 10, "cursor": cursor });
        let page = hub.ok(&alice, "search_messages", page).await;
        found.extend(bodies(&page));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let newest_first: Vec<&str> = texts.into_iter().rev().collect();
    assert_eq!(found, newest_first);
    hub.stop().await;
}

async fn a_query_without_words_is_explained(on: On) {
    let hub = TestHub::with(on, generous());
    let alice = caller("alice", Role::Worker);
    let error = hub.call(&alice, "search_messages", json!({ "query": "***" })).await.unwrap_err();
    assert_eq!(error.code().name(), "VALIDATION_ERROR");
    hub.stop().await;
}
